"""GitHub's REST interface over the world."""
