"""`agent-sync hook regenerate · recover`: the record after trouble."""

import click

from agent_sync.cli.here import desk_here
from agent_sync.cli.recorded import record_here, tell_standing
from agent_sync.lifecycle.foreign import one_line
from agent_sync.recovering import recover as recovered
from agent_sync.recovery.derived import VIEW
from agent_sync.recovery.model import Record
from agent_sync.recovery.states import State


@click.command("regenerate")
def regenerate() -> None:
    """Write HOOK.md anew from hook.json, which is the truth.

    \b
    Example:
      agent-sync hook regenerate
    """
    store, _ = record_here(desk_here(keeps_record=False))
    is_new = store.rebuild()
    click.echo(f"{store.directory / VIEW} {'was written anew' if is_new else 'is as it should be'}.")


@click.command("recover")
def recover() -> None:
    """Look whether the task has crashed, note it, and say what is advised; a second look changes nothing.

    \b
    Example:
      agent-sync hook recover
    """
    desk = desk_here(keeps_record=False)
    record_here(desk)
    record = recovered(desk)
    if record:
        tell_standing(record)
        for line in _advice(record):
            click.echo(line)


def _advice(record: Record) -> list[str]:
    found = record.recovery
    if found is None or record.state not in {State.RECOVERING, State.AWAITING_HUMAN}:
        return ["Nothing has crashed: whoever works on the task is there, or nothing was under way."]
    checkpoint = [f"Last Checkpoint: {found.last_checkpoint_id}"] if found.last_checkpoint_id else []
    following = "agent-sync resume" if record.state is State.RECOVERING else "agent-sync hook status"
    return [
        f"Crash: {found.crash_type}, detected {found.detected_at:%Y-%m-%d %H:%M:%S} UTC in {found.last_known_state}",
        f"Advice: {found.recommended_action}",
        f"Why: {one_line(found.reason, limit=400)}",
        *checkpoint,
        f"Next: {following}",
    ]


COMMANDS = (regenerate, recover)
