"""GitHub: every byte that goes there or comes from there."""
