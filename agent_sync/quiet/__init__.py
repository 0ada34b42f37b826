"""Is there certainly nothing to do? `os`, `sys` and `time` alone."""
