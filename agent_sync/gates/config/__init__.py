"""The gates' configuration: `.gauntlet/` read into values, and how it differs from the base."""
