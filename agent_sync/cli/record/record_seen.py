"""What `agent-sync status` shows of the recovery record; trouble with it hides nothing else."""

from dataclasses import dataclass
from typing import Any

from agent_sync.cli.record.hook_views import checkpoint_line, status_values
from agent_sync.cli.record.recorded import standing_of
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.system import clock


@dataclass(frozen=True)
class Seen:
    """The record for programs and for people."""

    values: dict[str, Any] | None = None
    lines: tuple[str, ...] = ()


def record_seen(context: Context) -> Seen:
    """Return what is on record for this worktree; nothing where nothing is."""
    try:
        found = context.recorder.opened()
        if found is None:
            return Seen()
        values = status_values(context, found, clock.now())
    except (AgentSyncError, OSError) as error:
        return Seen({"trouble": str(error)}, (f"Hook State: cannot be read: {error} Try: agent-sync record recover",))
    record = found[1]
    lines = (
        f"Task: {record.task_id}",
        f"Hook State: {standing_of(record)}",
        f"Last Checkpoint: {checkpoint_line(record, clock.now())}",
    )
    changed = () if values["integrity"] == "intact" else (f"Integrity: {values['integrity']}",)
    return Seen(values, (*lines, *changed))
