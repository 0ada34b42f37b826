"""What is remembered between runs: passes, the last run, and stamps for the quiet path."""
