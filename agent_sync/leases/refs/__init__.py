"""Claim refs: reading them and changing them by compare-and-swap, on the remote or in this clone."""
