"""One work hook: its states and moves, its files in a ref, and how that ref is changed."""
