"""`agent-sync trust`: approve what this repository's files ask for."""

import json
import re
import shutil
import sys
import unicodedata

import click

from agent_sync import settings as settings_file
from agent_sync.cli.asking import is_terminal
from agent_sync.cli.here import place_here, refuse_agent
from agent_sync.errors import BadConfig, BadInput
from agent_sync.settings.approvals import ApprovalRequest, Approvals
from agent_sync.system import clock
from agent_sync.task.decision.outside_text import UNSEEN

# Few people read more than this to its end before they answer.
LONGEST_SHOWN = 4_000


@click.command("trust")
@click.option("--show", is_flag=True, help="Only list what is asked for and what is approved.")
@click.option("--revoke", is_flag=True, help="Forget every approval of this clone.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="With --show: as JSON.")
def command(*, show: bool, revoke: bool, yes: bool, as_json: bool) -> None:
    """Approve what this repository's files ask for and only you may decide.

    A checkout brings .agent-sync.toml and .claude/settings.json, so whoever writes a branch writes them. They may set
    board names, wording and backoffs. Where a token goes, which remote git talks to, whether gates are required and
    the like stay as they are until you approve the very values, once per clone; another value is asked for again.
    Your own settings need no approval: AGENT_SYNC_* variables, and ~/.config/agent-sync/config.toml.

    Every value is shown whole, and unusual characters as escapes. A value that is too long to read, or has characters
    that cannot be seen, cannot be approved.

    This is for people: inside a session of an agent it is refused.

    \b
    Examples:
      agent-sync trust --show
      agent-sync trust
      agent-sync trust --revoke
    """
    place, environment = place_here(), settings_file.environment()
    if show or as_json:
        loaded = settings_file.load(place, environment)
        _show(loaded.approved, loaded.held_back, as_json=as_json)
        return
    refuse_agent(environment, "approve what a repository asks for", attempted="approving settings")
    if revoke:
        count = Approvals(place).revoke()
        click.echo(f"Revoked {count} approval{'' if count == 1 else 's'} of this clone.")
        return
    held_back = settings_file.load(place, environment).held_back
    if not held_back:
        click.echo("Nothing to approve: this repository's files ask for nothing that only you may decide.")
        return
    _show((), held_back, as_json=False)
    fit = [one for one in held_back if not _unfit(one)]
    if fit and (yes or _ask_approval()):
        Approvals(place).add(fit, clock.now())
        click.echo("Approved for this clone. Take it back with: agent-sync trust --revoke")
    elif fit:
        click.echo("Nothing was approved.")
    _refuse_unfit(held_back)


def _refuse_unfit(held_back: tuple[ApprovalRequest, ...]) -> None:
    for one in held_back:
        if _unfit(one):
            raise BadConfig(
                f"{_visible(one.key)} in {one.source} was not approved: {_unfit(one)}.",
                attempted="approving settings",
                helps=f"set it in your own file, or correct {one.source}",
            )


def _ask_approval() -> bool:
    if not is_terminal():
        raise BadInput(
            "Without a terminal nobody can be asked, so nothing was approved.",
            attempted="asking whether to approve the values above",
            helps="agent-sync trust --yes",
        )
    return click.confirm("Approve these values for this clone?", default=False)


def _show(approved: tuple[ApprovalRequest, ...], held_back: tuple[ApprovalRequest, ...], *, as_json: bool) -> None:
    rows = [("approved", one) for one in approved] + [("not approved", one) for one in held_back]
    if as_json:
        asked = [
            {"key": one.key, "value": one.value, "source": one.source, "why": one.why, "approved": state == "approved"}
            for state, one in rows
        ]
        click.echo(json.dumps({"asked": asked}, default=str))
        return
    if not rows:
        click.echo("This repository's files ask for nothing that only you may decide.")
    for state, one in rows:
        reason = _unfit(one)
        why = f"{one.source}; {one.why}{f'; cannot be approved: {reason}' if reason else ''}"
        _echo_whole(f"{state:<12}  {_shown(one)}  ({why})")


def _echo_whole(line: str) -> None:
    """Print all of a line; on a terminal in pieces of its width, so that none looks like a line of ours."""
    width = shutil.get_terminal_size().columns - 1 if sys.stdout.isatty() else len(line)
    click.echo(line[:width])
    rest, step = line[width:], max(width - 4, 20)
    for start in range(0, len(rest), step):
        click.echo(f"    {rest[start : start + step]}")


def _shown(asked: ApprovalRequest) -> str:
    return f"{_visible(asked.key)} = {_visible(json.dumps(asked.value, default=str))}"


def _visible(text: str) -> str:
    """Return all of `text` in ASCII that can be seen: other characters, and blanks in a row, as escapes of JSON."""
    spelled = "".join(char if " " <= char <= "~" else f"\\u{ord(char):04x}" for char in text)
    return re.sub(" {2,}", lambda blanks: "\\u0020" * len(blanks[0]), spelled)


def _unfit(asked: ApprovalRequest) -> str:
    """Return why a person cannot judge a value by reading it, or "" where it can be approved."""
    if any(unicodedata.category(char) in UNSEEN for char in f"{asked.key}{asked.value}"):
        return "it has characters that cannot be seen"
    return f"it is longer than {LONGEST_SHOWN:,} characters" if len(_shown(asked)) > LONGEST_SHOWN else ""
