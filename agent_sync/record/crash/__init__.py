"""Whose task it is, whether they live, and what to do if they do not."""
