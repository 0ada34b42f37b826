"""A failed check with what is known about why, and what tells it from other failures."""

import hashlib
import re
from collections.abc import Iterable

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern

# What differs between two runs that fail for the same reason: numbers, times, hashes, places in memory.
_CHANGING = pattern(r"0x[0-9a-f]+|\b[0-9a-f]{7,64}\b|\d+(?:\.\d+)?", re.IGNORECASE)
_COMPARED_LINES = 20


@dataclass(frozen=True)
class JobOutput:
    """What GitHub has of a failed job: the failing step, what was noted at lines of the change, the whole log."""

    step: str
    annotations: tuple[str, ...]
    log: str


@dataclass(frozen=True)
class Failure:
    """A failed check: where it failed, what it printed last, and where all of it is."""

    name: str
    url: str = ""
    step: str = ""
    annotations: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    lines: int = 0
    path: str = ""
    # The name of the pattern by which it looks like infrastructure, or nothing.
    infrastructure: str = ""
    # Why there is no log, where there is none.
    note: str = ""


def fingerprint_of(failures: Iterable[Failure], names: Iterable[str]) -> str:
    """Return what the same failure has in common on every commit; without any log, the names of the checks."""
    read = sorted((failure.name, failure.step, *_compared(failure)) for failure in failures)
    known = {failure[0] for failure in read}
    whole = repr((read, sorted(name for name in names if name not in known)))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def _compared(failure: Failure) -> tuple[str, ...]:
    said = (*failure.annotations, *failure.tail[-_COMPARED_LINES:])
    return tuple(_CHANGING.sub("#", line).strip() for line in said)
