"""What others do to a task on GitHub while it is worked on, and what follows from it."""
