"""A stateful GitHub on loopback for the demo, the tests and a curious user."""
