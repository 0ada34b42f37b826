"""Who may do what: roles, scopes, permissions, and organisations that keep tokens out."""
