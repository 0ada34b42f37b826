"""One task from claim to close: its file, the decision, the loop that acts on it, and what waits to be said."""
