"""`agent-sync record regenerate · recover · install · uninstall`: the record after trouble, and what wakes it."""

from typing import assert_never

import click

from agent_sync import clock, recording
from agent_sync.cli.here import desk_here
from agent_sync.cli.recorded import home_here, record_here, tell_standing
from agent_sync.errors import BadConfig
from agent_sync.install import githooks
from agent_sync.install.githook_text import KINDS, POST_COMMIT
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
      agent-sync record regenerate
    """
    store, _ = record_here(desk_here(keeps_record=False))
    is_new = store.rebuild()
    click.echo(f"{store.directory / VIEW} {'was written anew' if is_new else 'is as it should be'}.")


@click.command("recover")
def recover() -> None:
    """Look whether the task has crashed, note it, and say what is advised; a second look changes nothing.

    A record that cannot be read any more is put aside with all its files; the claim gets a new one.

    \b
    Example:
      agent-sync record recover
    """
    desk = desk_here(keeps_record=False)
    home_here(desk)
    aside = desk.recorder.put_aside(clock.now())
    if aside:
        click.echo(f"The record could not be used any more. All its files are kept in {aside}.")
        recording.catch_up(desk)
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
    following = "agent-sync resume" if record.state is State.RECOVERING else "agent-sync record status"
    return [
        f"Crash: {found.crash_type}, detected {found.detected_at:%Y-%m-%d %H:%M:%S} UTC in {found.last_known_state}",
        f"Advice: {found.recommended_action}",
        f"Why: {one_line(found.reason, limit=400)}",
        *checkpoint,
        f"Next: {following}",
    ]


@click.command("install")
@click.option(
    "--pre-push", is_flag=True, help="Also guard plain `git push`: refuse the branch of a claim that is lost."
)
def install(*, pre_push: bool) -> None:
    """Have git tell the record of every commit: adds a few lines to the post-commit hook, which is otherwise kept.

    Without it commits and pushes are found at the next hook of the client or the next command.

    \b
    Examples:
      agent-sync record install
      agent-sync record install --pre-push
    """
    desk = desk_here()
    for kind in KINDS if pre_push else (POST_COMMIT,):
        _tell_installed(githooks.install(desk.git, desk.place, kind))


def _tell_installed(result: githooks.Installed | githooks.Unchanged | githooks.Refused) -> None:
    match result:
        case githooks.Installed(file=file, was_there=was_there):
            click.echo(f"{'Added to' if was_there else 'Wrote'} {file}. Take it out: agent-sync record uninstall")
        case githooks.Unchanged(file=file):
            click.echo(f"{file} calls agent-sync already.")
        case githooks.Refused() as refused:
            _refuse(refused, "installing the git hook")
        case _ as never:
            assert_never(never)


@click.command("uninstall")
def uninstall() -> None:
    """Take exactly what `hook install` put in out of git's hooks.

    \b
    Example:
      agent-sync record uninstall
    """
    desk = desk_here()
    match githooks.uninstall(desk.git, desk.place):
        case githooks.Removed(files=files):
            click.echo(f"Taken out of {', '.join(str(file) for file in files)}.")
        case githooks.Unchanged(file=file):
            click.echo(f"{file} has nothing of agent-sync.")
        case githooks.Refused() as refused:
            _refuse(refused, "taking the git hook out")
        case _ as never:
            assert_never(never)


def _refuse(refused: githooks.Refused, attempted: str) -> None:
    raise BadConfig(f"{refused.reason} Nothing was written.", attempted=attempted, helps=refused.instructions)


COMMANDS = (regenerate, recover, install, uninstall)
