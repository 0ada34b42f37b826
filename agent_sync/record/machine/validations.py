"""The commands a task was validated with, as its history has them."""

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import GATES, RecordMove


@dataclass(frozen=True)
class RecordedCommand:
    """A validation that can be run again, and where; without a directory its text is not what was typed."""

    command: str
    cwd: str


def recorded_command(record: Record) -> RecordedCommand | None:
    """Return what the present step was last validated with; nothing where that were the gates or nothing at all."""
    step = record.current_step.step_name if record.current_step else ""
    begun = [event for event in record.history if event.trigger is RecordMove.STEP_OUTPUT and event.step_name == step]
    command = str(begun[-1].details.get("command", "")) if begun else ""
    if command in {"", GATES}:
        return None
    return RecordedCommand(command, str(begun[-1].details.get("cwd", "")))


def validation_command(record: Record) -> str:
    """Return what the last validation ran, or is running; nothing where that is not known."""
    begun = [event for event in record.history if event.trigger is RecordMove.STEP_OUTPUT]
    return str(begun[-1].details.get("command", "")) if begun else ""


def failed_checks(record: Record, *, commit: str = "") -> list[str]:
    """Return the checks whose last run failed; with a commit, those that failed on it."""
    latest = {(receipt.kind, receipt.label or receipt.command): receipt for receipt in record.receipts}
    failed = {name: one for (_, name), one in latest.items() if not one.has_passed}
    return [name for name, one in failed.items() if not commit or one.git_commit == commit]
