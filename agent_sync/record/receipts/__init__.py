"""Receipts: commands that agent-sync ran itself, signed and verified."""
