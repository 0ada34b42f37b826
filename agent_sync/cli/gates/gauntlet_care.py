"""`agent-sync gate clean · init`: moving a session's logs aside, setting up a project."""

from pathlib import Path

import click

from agent_sync.cli.asking import ask_consent
from agent_sync.cli.gates.detecting import project_here
from agent_sync.cli.here import context_here
from agent_sync.errors import LockHeld, WrongState
from agent_sync.gates.config.starter import starter_files
from agent_sync.gates.plan.repo import Repo
from agent_sync.gates.run import clean as cleaning, lock
from agent_sync.gates.run.logs import LogDir
from agent_sync.worktree import GATE_DIR


@click.command("clean")
def clean() -> None:
    """Move the logs of the current session to `previous/`, so that the next run starts afresh.

    \b
    Example:
      agent-sync gate clean
    """
    context, loaded = project_here()
    logs = LogDir(loaded.project.log_dir)
    repo = Repo(context.git, context.place, loaded.project.root)
    if not logs.path.exists():
        click.echo("Nothing to clean: there is no log directory.")
        return
    # Before the lock, which is a file in there.
    logs.refuse_foreign(repo)
    with lock.alone(context.place, logs.path) as is_alone:
        if not is_alone:
            raise LockHeld("A gate run is in progress.", attempted="cleaning", helps="agent-sync gate status")
        moved = cleaning.clean(logs, repo, keep=loaded.project.max_previous_logs, with_state=True)
    click.echo(f"Moved the logs to {logs.path / cleaning.PREVIOUS}." if moved else "No current logs; nothing to clean.")


@click.command("init")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
def init(*, yes: bool, dry_run: bool) -> None:
    """Write a first `.gauntlet/` with checks for the tools this project seems to use.

    \b
    Example:
      agent-sync gate init --dry-run
    """
    context = context_here()
    repo = Repo(context.git, context.place, Path(context.place.root))
    target = repo.project / GATE_DIR
    if target.exists():
        raise WrongState(f"{target} already exists.", helps="agent-sync gate validate")
    files = starter_files(repo)
    for name, text in files.items():
        click.echo(f"--- {GATE_DIR}/{name}\n{text}")
    if dry_run or not ask_consent("Write these files?", yes=yes, command="agent-sync gate init"):
        return
    for name, text in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    click.echo(f"Wrote {len(files)} files to {target}. Next: agent-sync gate run")


COMMANDS = (clean, init)
