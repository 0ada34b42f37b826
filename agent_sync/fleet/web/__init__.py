"""The fleet in the browser: `agent-sync ui`."""
