"""What `agent-sync status` shows of the recovery record; trouble with it hides nothing else."""

from dataclasses import dataclass
from typing import Any

from agent_sync import clock
from agent_sync.cli.hook_views import checkpoint_line, status_values
from agent_sync.cli.recorded import standing_of
from agent_sync.desk import Desk
from agent_sync.errors import AgentSyncError
from agent_sync.recovery.by_hand import HELPS
from agent_sync.recovery.model import Record
from agent_sync.recovery.templates import CLAIM_TO_CLOSE


@dataclass(frozen=True)
class Seen:
    """The record for programs, for people, and the command that leads on."""

    values: dict[str, Any] | None = None
    lines: tuple[str, ...] = ()
    following: str = ""


def record_seen(desk: Desk) -> Seen:
    """Return what is on record for this worktree; nothing where nothing is."""
    try:
        found = desk.recorder.opened()
        if found is None:
            return Seen()
        values = status_values(desk, found, clock.now())
    except (AgentSyncError, OSError) as error:
        return Seen({"trouble": str(error)}, (f"Hook State: cannot be read: {error}",), "agent-sync record recover")
    record = found[1]
    lines = (
        f"Task: {record.task_id}",
        f"Hook State: {standing_of(record)}",
        f"Last Checkpoint: {checkpoint_line(record, clock.now())}",
    )
    changed = () if values["integrity"] == "intact" else (f"Integrity: {values['integrity']}",)
    return Seen(values, (*lines, *changed), _following(record))


def _following(record: Record) -> str:
    """Return what leads on; a claim's task is moved by its claim, without which it can be taken again or given up."""
    if record.template == CLAIM_TO_CLOSE:
        return f"agent-sync claim {record.issue_number}, or agent-sync abandon"
    return HELPS.get(record.state, "agent-sync record status")
