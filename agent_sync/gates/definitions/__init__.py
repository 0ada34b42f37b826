"""Whose gate definitions apply: compared with the base, and taken from it on a branch from elsewhere."""
