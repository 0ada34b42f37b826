"""The one line that tells an agent without memory that a task is under way, and where to read on."""

from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import TERMINAL
from agent_sync.task.decision.outside_text import one_line, quoted

_LONGEST_PATH = 1000


def synopsis(record: Record, directory: str) -> str:
    """Return the line for the record that lies in `directory`; nothing for a task that has ended."""
    if record.state in TERMINAL:
        return ""
    step, total = record.current_step, len(record.steps)
    place = f"{quoted(step.step_name)} ({step.step_index + 1}/{total})" if step else f"none yet (0/{total})"
    return (
        f"[ATLAS RECOVERY] Task '{one_line(record.task_id)}' in progress. State: {record.state}, Step: {place}. "
        f"READ {one_line(directory, limit=_LONGEST_PATH)}/HOOK.md BEFORE PROCEEDING."
    )
