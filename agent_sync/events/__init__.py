"""Hook events of Claude Code: event in, reply out."""
