"""Files that `agent-sync init` writes whole."""
