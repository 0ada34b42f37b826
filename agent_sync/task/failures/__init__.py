"""Why checks failed: the failing step, the end of its log, whether it looks like infrastructure."""
