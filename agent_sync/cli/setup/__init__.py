"""Commands that set up, check and try out."""
