"""From an open pull request to its merge: rules, the queue, standing orders, landing."""
