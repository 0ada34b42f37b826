"""One run of the gates: its lock, its jobs, its logs and what came of it."""
