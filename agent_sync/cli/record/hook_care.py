"""`agent-sync record regenerate · recover · install · uninstall`: the record after trouble, and what wakes it."""

from typing import assert_never

import click

from agent_sync.cli.here import context_here
from agent_sync.cli.record.recorded import home_here, record_here, tell_standing
from agent_sync.errors import BadConfig
from agent_sync.record import keep as recording
from agent_sync.record.crash.recovery import recover as recovered
from agent_sync.record.disk.beginning import move_unusable_aside
from agent_sync.record.disk.contents import HOOK_MD
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import RecordState
from agent_sync.setup.githooks import install as githooks
from agent_sync.setup.githooks.text import KINDS, POST_COMMIT
from agent_sync.system import clock
from agent_sync.task.decision.outside_text import one_line


@click.command("regenerate")
def regenerate() -> None:
    """Regenerate HOOK.md from hook.json.

    \b
    Example:
      agent-sync record regenerate
    """
    store, _ = record_here(context_here(keeps_record=False))
    is_new = store.rebuild()
    click.echo(f"{store.directory / HOOK_MD} {'was regenerated' if is_new else 'is up to date'}.")


@click.command("recover")
def recover() -> None:
    """Check whether the task has crashed, record it, and print the advice; running it again changes nothing.

    An unreadable record is moved aside with all its files; the claim gets a new one.

    \b
    Example:
      agent-sync record recover
    """
    context = context_here(keeps_record=False)
    home_here(context)
    aside = move_unusable_aside(context.recorder, clock.now())
    if aside:
        click.echo(f"The record was unusable. All its files are kept in {aside}.")
        recording.catch_up(context)
    record_here(context)
    record = recovered(context)
    if record:
        tell_standing(record)
        for line in _advice(record):
            click.echo(line)


def _advice(record: Record) -> list[str]:
    found = record.recovery
    if found is None or record.state not in {RecordState.RECOVERING, RecordState.AWAITING_HUMAN}:
        return ["Nothing has crashed: the task's owner is running, or no step was in progress."]
    crash = f"Crash: {found.crash_type}, detected {found.detected_at:%Y-%m-%d %H:%M:%S} UTC in {found.last_known_state}"
    if record.state is RecordState.AWAITING_HUMAN:
        # What it waits for was printed, and may be newer than the advice.
        return [crash, "Next: agent-sync record status"]
    checkpoint = [f"Last Checkpoint: {found.last_checkpoint_id}"] if found.last_checkpoint_id else []
    return [
        crash,
        f"Advice: {found.recommended_action}",
        f"Why: {one_line(found.reason, limit=400)}",
        *checkpoint,
        "Next: agent-sync resume",
    ]


@click.command("install")
@click.option(
    "--pre-push", is_flag=True, help="Also guard plain `git push`: refuse to push the branch of a lost claim."
)
def install(*, pre_push: bool) -> None:
    """Record every commit: adds a few lines to git's post-commit hook and keeps the rest of it.

    Without it commits and pushes are found at the next hook of the client or the next command.

    \b
    Examples:
      agent-sync record install
      agent-sync record install --pre-push
    """
    context = context_here()
    for kind in KINDS if pre_push else (POST_COMMIT,):
        _tell_installed(githooks.install(context.git, context.place, kind))


def _tell_installed(result: githooks.Installed | githooks.Unchanged | githooks.InstallRefused) -> None:
    match result:
        case githooks.Installed(file=file, was_there=was_there):
            click.echo(f"{'Added to' if was_there else 'Wrote'} {file}. To remove it: agent-sync record uninstall")
        case githooks.Unchanged(file=file):
            click.echo(f"{file} already calls agent-sync.")
        case githooks.InstallRefused() as refused:
            _refuse(refused, "installing the git hook")
        case _ as never:
            assert_never(never)


@click.command("uninstall")
def uninstall() -> None:
    """Remove exactly what `record install` added to git's hooks.

    \b
    Example:
      agent-sync record uninstall
    """
    context = context_here()
    match githooks.uninstall(context.git, context.place):
        case githooks.Removed(files=files):
            click.echo(f"Removed from {', '.join(str(file) for file in files)}.")
        case githooks.Unchanged(file=file):
            click.echo(f"{file} has nothing of agent-sync.")
        case githooks.InstallRefused() as refused:
            _refuse(refused, "removing the git hook")
        case _ as never:
            assert_never(never)


def _refuse(refused: githooks.InstallRefused, attempted: str) -> None:
    raise BadConfig(f"{refused.reason} Nothing was written.", attempted=attempted, helps=refused.instructions)


COMMANDS = (regenerate, recover, install, uninstall)
