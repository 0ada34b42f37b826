"""`agent-sync trust`: approve what this repository's files ask for."""

import json

import click

from agent_sync import settings as settings_file
from agent_sync.cli.asking import is_terminal
from agent_sync.cli.here import place_here
from agent_sync.errors import BadInput, HumansOnly
from agent_sync.settings.approvals import ApprovalRequest, Approvals, printable
from agent_sync.system import clock

LONGEST_VALUE = 100


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
    if environment.get("CLAUDECODE"):
        message = "Only a human may approve what a repository asks for, and an agent's session is asking."
        raise HumansOnly(message, attempted="approving settings", helps="run it in a terminal of your own")
    if revoke:
        count = Approvals(place).revoke()
        click.echo(f"Revoked {count} approval{'' if count == 1 else 's'} of this clone.")
        return
    held_back = settings_file.load(place, environment).held_back
    if not held_back:
        click.echo("Nothing to approve: this repository's files ask for nothing that only you may decide.")
        return
    _show((), held_back, as_json=False)
    if yes or _ask_approval():
        Approvals(place).add(held_back, clock.now())
        click.echo("Approved for this clone. Take it back with: agent-sync trust --revoke")
    else:
        click.echo("Nothing was approved.")


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
        value = printable(json.dumps(one.value, default=str), limit=LONGEST_VALUE)
        click.echo(f"{state:<12}  {printable(one.key)} = {value}  ({one.source}; {one.why})")
