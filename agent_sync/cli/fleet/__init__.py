"""Commands on all tasks of the repository."""
