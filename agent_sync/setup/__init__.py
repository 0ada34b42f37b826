"""Setting a repository up, taking that out again, and checking it."""
