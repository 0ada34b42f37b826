"""How long records of ended tasks are kept."""

import re
from dataclasses import dataclass
from datetime import timedelta

from agent_sync.errors import BadInput
from agent_sync.record.machine.states import State
from agent_sync.settings.tables import Record as RecordSettings

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LENGTH = re.compile(r"([0-9]{1,6})([mhdw])")


@dataclass(frozen=True)
class Retention:
    """How long a record is kept after its task has ended, by how it ended; a task at work has no such time."""

    completed: timedelta
    failed: timedelta
    abandoned: timedelta

    def of(self, state: State) -> timedelta | None:
        """Return how long a record in `state` is kept; None means for ever."""
        ends = {State.COMPLETED: self.completed, State.FAILED: self.failed, State.ABANDONED: self.abandoned}
        return ends.get(state)


def configured(settings: RecordSettings) -> Retention:
    """Return what the settings say."""
    return Retention(
        timedelta(days=settings.keep_completed_days),
        timedelta(days=settings.keep_failed_days),
        timedelta(days=settings.keep_abandoned_days),
    )


def uniform(kept: timedelta) -> Retention:
    """Return one time for all, however a task ended."""
    return Retention(kept, kept, kept)


def parsed(text: str) -> timedelta:
    """Read a length of time like `30m`, `12h`, `7d`, `2w` or `0`."""
    if text == "0":
        return timedelta()
    found = _LENGTH.fullmatch(text)
    if not found:
        message = f"{text!r} is not a duration; write 0, or a number with m, h, d or w, such as 30m, 12h, 7d, 2w."
        raise BadInput(message, attempted="reading --retention", helps="agent-sync cleanup --help")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
