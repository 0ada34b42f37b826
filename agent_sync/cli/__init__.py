"""The command line for people: one module per command, loaded when it is called."""
