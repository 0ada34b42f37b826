"""The long sweeps of `make prove`: families of cases, a journal to resume from, and a table of what was lost."""
