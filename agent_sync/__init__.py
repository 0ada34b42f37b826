"""agent-sync takes a coding agent's task on GitHub from claim to close."""

__version__ = "0.1.0"
