"""Leases: claims that hold across machines, as compare-and-swap on one git ref for each issue."""
