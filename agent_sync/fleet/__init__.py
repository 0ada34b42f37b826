"""All tasks of a repository at a glance."""
