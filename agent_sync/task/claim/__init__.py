"""The state of one task: `.agent-claim.json`."""
