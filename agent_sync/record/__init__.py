"""The recovery record: what was done on a task, and signed proof of what was checked."""
