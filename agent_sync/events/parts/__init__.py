"""Who takes part in an event of Claude Code: one module each."""
