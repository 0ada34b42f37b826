"""Runs the programs that make and mount disks."""

import subprocess


def run(*command: object) -> str:
    """Run a program that must succeed, and return what it printed."""
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout
