"""Compare-and-swap on refs below `refs/agentsync/`: one engine, and the transports it works through."""
