"""Compares everything that says something of a task, explains what differs, and repairs what is ours."""
