"""Leases in the life of a task: got when it is claimed, proven before GitHub is written to, ended with the claim."""
