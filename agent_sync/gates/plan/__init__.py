"""What a run looks at: the work as trees, what changed, and which gates follow from it; pure but for git."""
