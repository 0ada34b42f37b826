"""Commands on one task, from claim to close."""
