"""What a check found, and what mends it."""

from enum import StrEnum

from agent_sync.lazy_dataclasses import dataclass


class Mark(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True)
class Result:
    """One line: what was checked, how it came out, what was seen, and the command that mends it."""

    name: str
    mark: Mark
    says: str
    fix: str = ""


def ok(name: str, says: str) -> Result:
    """Return that all is well."""
    return Result(name, Mark.OK, says)


def warn(name: str, says: str, fix: str = "") -> Result:
    """Return that something works, but not as it should."""
    return Result(name, Mark.WARN, says, fix)


def fail(name: str, says: str, fix: str) -> Result:
    """Return that something does not work."""
    return Result(name, Mark.FAIL, says, fix)


def skip(name: str, says: str, fix: str = "") -> Result:
    """Return that it could not be checked."""
    return Result(name, Mark.SKIP, says, fix)
