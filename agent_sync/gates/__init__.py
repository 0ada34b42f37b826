"""The quality gate: reads `.gauntlet/`, runs checks and reviews on what changed, and decides about a stop."""
