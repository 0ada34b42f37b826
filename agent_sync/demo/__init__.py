"""A whole task from claim to close on the local GitHub, played by the real commands."""
