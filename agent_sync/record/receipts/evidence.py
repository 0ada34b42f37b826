"""What a receipt is made from: how a command ran, what it was run for, and the receipt's place."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

Kind = Literal["gate", "command"]
_MINUTE, _HOUR = 60, 3600


@dataclass(frozen=True)
class Ran:
    """A command that agent-sync has run itself: only `running` makes one."""

    command: str
    argv: tuple[str, ...]
    cwd: str
    exit_code: int
    started_at: datetime
    completed_at: datetime
    duration_ms: int
    stdout_hash: str
    stderr_hash: str


@dataclass(frozen=True)
class Work:
    """What was checked by the command: a step of a task, and the state of its files."""

    step_name: str
    attempt: int
    kind: Kind
    label: str
    git_commit: str
    git_tree: str
    git_dirty: bool
    history_head: str


@dataclass(frozen=True)
class Slot:
    """The one place a receipt belongs to; both numbers count from zero."""

    task_id: str
    task_index: int
    receipt_index: int

    @property
    def receipt_id(self) -> str:
        """What people call the receipt."""
        return f"rcpt-{self.receipt_index + 1:03d}"


def moment(at: datetime) -> str:
    """Return a moment as a receipt spells it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def duration(milliseconds: int) -> str:
    """Return a duration as people read it: 12.3s, 1m5s, 2h0m9s."""
    if milliseconds < _MINUTE * 1000:
        # Tenths are cut, not rounded, so that no second is shown that has not passed.
        return f"{milliseconds // 1000}.{milliseconds % 1000 // 100}s"
    seconds = milliseconds // 1000
    hours, minutes = f"{seconds // _HOUR}h" if seconds >= _HOUR else "", seconds % _HOUR // _MINUTE
    return f"{hours}{minutes}m{seconds % _MINUTE}s"
