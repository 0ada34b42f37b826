"""`agent-sync doctor`: check the whole set-up."""

import dataclasses
import json

import click

from agent_sync import settings as settings_file
from agent_sync.cli.here import place_here
from agent_sync.errors import Exit
from agent_sync.setup.doctor.checkup import check_all
from agent_sync.setup.doctor.result import Mark, Result

SHOWN = {
    Mark.OK: ("✓ ok  ", "green"),
    Mark.WARN: ("! warn", "yellow"),
    Mark.FAIL: ("✗ FAIL", "red"),
    Mark.SKIP: ("- skip", "bright_black"),
}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--live", is_flag=True, help="Also try what works with this token here, with scratch refs.")
@click.pass_context
def command(ctx: click.Context, *, as_json: bool, live: bool) -> None:
    """Check the whole set-up, one line each, with the command that fixes it. Exit code 1 if anything fails.

    Looks at the command, git, worktrees, the claim and whether it is ignored, the hooks at every level and what they
    do, the settings, and on GitHub at the repository, token, scopes, clock, board and names. Changes nothing. With
    --live it also makes, moves and deletes a scratch ref, by git and through GitHub's interface, and asks for every
    permission it will need; what it leaves behind is nothing.

    \b
    Examples:
      agent-sync doctor
      agent-sync doctor --live
      agent-sync doctor --json | jq '.checks[] | select(.mark == "fail")'
    """
    results = []
    for result in check_all(place_here(), settings_file.environment(), live=live):
        results.append(result)
        if not as_json:
            _print(result)
    failed = sum(1 for result in results if result.mark is Mark.FAIL)
    if as_json:
        checks = [dataclasses.asdict(result) for result in results]
        click.echo(json.dumps({"ok": not failed, "checks": checks}, ensure_ascii=False))
    elif failed:
        click.echo(f"{failed} of {len(results)} checks failed.")
    ctx.exit(Exit.FAILED if failed else Exit.OK)


def _print(result: Result) -> None:
    words, colour = SHOWN[result.mark]
    click.echo(f"{click.style(words, fg=colour)}  {result.name:<16} {result.says}")
    if result.fix and result.mark is not Mark.OK:
        click.echo(f"{'':<24} fix: {result.fix}")
