"""What a new session is told of its task: the essential of HOOK.md in a few lines, so that reading it is an extra."""

from agent_sync.record.machine.asked import requests_of
from agent_sync.record.machine.model import Record, StepContext
from agent_sync.record.machine.states import TERMINAL, RecordState
from agent_sync.record.machine.validations import failed_checks
from agent_sync.record.page.next_steps import moment
from agent_sync.task.decision.outside_text import one_line, quoted

# Of the 1,200 characters that the start of a session may take, the claim's own line and the board need the rest.
LONGEST = 800
_FILES_NAMED = 5
_CHECKS_NAMED = 3
_LONGEST_PATH = 1000


def session_text(record: Record, directory: str, *, is_validating: bool = False) -> str:
    """Return what the record tells a new session; nothing for a task that has ended."""
    first, step = synopsis(record, directory), record.current_step
    if not first or step is None:
        return first
    lines = [_doing(record, step), *_asked(record), *_why(record, is_validating=is_validating)]
    lines += [*_reached(record), *_failed(record), *_uncommitted(record)]
    return "\n".join([first, *_within(lines, LONGEST)])


def _doing(record: Record, step: StepContext) -> str:
    branch = f" on branch {quoted(record.branch, limit=100)}" if record.branch else ""
    attempt = f", attempt {step.attempt}" if step.attempt > 1 else ""
    work = step.working_on or record.description
    return f"You were at step {quoted(step.step_name, limit=60)}{attempt}{branch}: {quoted(work, limit=120)}."


def _asked(record: Record) -> list[str]:
    """Return what was asked for; the last request gets most of the room."""
    asked = requests_of(record)
    if not asked:
        return []
    *earlier, last = asked
    before = [quoted(text, limit=80) for text in earlier[-2:]]
    return [f"Asked for: {', then '.join([*before, quoted(last, limit=240)])}."]


def _why(record: Record, *, is_validating: bool) -> list[str]:
    if is_validating:
        return ["Its validation still runs: wait for it and see `agent-sync record status`."]
    found = record.recovery
    if record.state is RecordState.RECOVERING and found:
        return [f"Advice: {found.recommended_action}. {one_line(found.reason, limit=200)}"]
    if record.state is RecordState.AWAITING_HUMAN:
        return [f"Waiting for a human: {one_line(record.waiting_for, limit=240)}"]
    return []


def _reached(record: Record) -> list[str]:
    if not record.checkpoints:
        return []
    last = record.checkpoints[-1]
    return [f"Last checkpoint: {quoted(last.description, limit=100)} ({last.trigger}, {moment(last.created_at)})."]


def _failed(record: Record) -> list[str]:
    """Name the checks whose last run failed."""
    names = failed_checks(record)
    return [f"Failed: {', '.join(quoted(name, limit=60) for name in names[-_CHECKS_NAMED:])}."] if names else []


def _uncommitted(record: Record) -> list[str]:
    if not record.uncommitted:
        return []
    more = len(record.uncommitted) - _FILES_NAMED
    named = ", ".join(quoted(name, limit=60) for name in record.uncommitted[:_FILES_NAMED])
    return [f"Uncommitted: {named}" + (f" and {more} more." if more > 0 else ".")]


def _within(lines: list[str], limit: int) -> list[str]:
    """Return the lines that fit; the first ones matter most."""
    kept: list[str] = []
    for line in lines:
        left = limit - sum(len(one) + 1 for one in kept)
        if left > len(line):
            kept.append(line)
    return kept


def synopsis(record: Record, directory: str) -> str:
    """Return the line for the record in `directory`; nothing for a task that has ended."""
    if record.state in TERMINAL:
        return ""
    step, total = record.current_step, len(record.steps)
    place = f"{quoted(step.step_name)} ({step.step_index + 1}/{total})" if step else f"none yet (0/{total})"
    return (
        f"[ATLAS RECOVERY] Task '{one_line(record.task_id)}' in progress. State: {record.state}, Step: {place}. "
        f"READ {one_line(directory, limit=_LONGEST_PATH)}/HOOK.md BEFORE PROCEEDING."
    )
