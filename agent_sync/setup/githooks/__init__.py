"""Our lines in the hooks of git."""
