"""What a family of cases is, and how a case can end."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from support.clients import Nursery


class Verdict(StrEnum):
    """How a case ended, as the world shows it."""

    SURVIVED = "survived"
    # A commit, an event of the record, a claim or a notice is gone, or the task never reaches its end.
    LOST = "lost"
    # Two pull requests, two comments, two holders.
    DUPLICATED = "duplicated"
    # The case itself could not be played to its end.
    FAILED = "failed"
    # It cannot be tried here, or the moment it waits for did not come.
    SKIPPED = "skipped"


BAD = frozenset({Verdict.LOST, Verdict.DUPLICATED, Verdict.FAILED})


@dataclass(frozen=True)
class Ending:
    """How a case ended, in a sentence, and how many things were tried in it."""

    verdict: Verdict
    said: str = ""
    tries: int = 1


@dataclass(frozen=True)
class Case:
    """One thing that can be tried again by its name; `seconds` is about how long it takes on a quiet machine."""

    name: str
    run: Callable[[Nursery], Ending]
    seconds: float = 10.0


@dataclass(frozen=True)
class Family:
    """Cases of one kind, and how to make one from its name; listing the names may take a whole run to count points."""

    name: str
    promise: str
    names: Callable[[Nursery], Sequence[str]]
    case: Callable[[str], Case]


def shuffled(names: Sequence[str]) -> list[str]:
    """Return the names in an order that is always the same and favours none, so that a cut run covers all kinds."""
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
