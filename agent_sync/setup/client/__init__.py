"""Claude Code as it is set up on this machine: its settings files at every level, and our plugin."""
