"""The system around us: git, processes, files, the log, the clock, secrets."""
