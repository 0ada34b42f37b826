"""What CI, reviewers and the base branch say of an open pull request, and what follows from it."""
