"""Set-up: what agent-sync writes into a repository, and how exactly that is taken out again."""
