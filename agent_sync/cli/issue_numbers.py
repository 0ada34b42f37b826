"""Reads the number of an issue as people type it."""

import re

from agent_sync.errors import BadInput
from agent_sync.lazy_patterns import pattern

# GitHub's numbers are 32-bit integers.
LARGEST = (1 << 31) - 1
_LONGEST = len(str(LARGEST))
_SHOWN = 20


_NAMED = pattern(r"(?P<repository>[\w.-]+/[\w.-]+)#(?P<number>[0-9]{1,10})", re.ASCII)


def qualified_issue(text: str) -> tuple[str, str] | None:
    """Return repository and number of `owner/name#42`; None where the text is something else."""
    found = _NAMED.fullmatch(text)
    return (found["repository"], found["number"]) if found else None


def issue_number(text: str, *, helps: str) -> int | None:
    """Return the number in `42` or `#42`; None where the text is no number, and an error where no issue can have it."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdecimal()):
        return None
    number = int(digits) if len(digits) <= _LONGEST else 0
    if not 1 <= number <= LARGEST:
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise BadInput(f"{shown} cannot be the number of an issue.", helps=helps)
    return number
