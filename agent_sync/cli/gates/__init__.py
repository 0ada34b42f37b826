"""Commands of the gates."""
