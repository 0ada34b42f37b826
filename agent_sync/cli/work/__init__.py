"""Commands of work hooks."""
