"""The record's states and moves, its history and its checkpoints; pure."""
