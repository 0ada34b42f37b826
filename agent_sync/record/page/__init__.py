"""HOOK.md: what a reader without memory needs to know."""
