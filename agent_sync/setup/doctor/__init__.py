"""Checks of the whole set-up, each a small function that returns what it found."""
