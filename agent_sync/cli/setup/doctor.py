"""`agent-sync doctor`: check the whole set-up."""

import dataclasses
import json
from collections.abc import Mapping

import click

from agent_sync import settings as settings_file
from agent_sync.cli.asking import tell_done
from agent_sync.cli.here import place_here, refuse_agent
from agent_sync.errors import BadConfig, Exit
from agent_sync.setup.doctor.checkup import check_all
from agent_sync.setup.doctor.repair import repair
from agent_sync.setup.doctor.result import Mark, Result
from agent_sync.setup.install.plan import InstallPlan
from agent_sync.setup.install.shown import verb
from agent_sync.worktree import Place

SHOWN = {
    Mark.OK: ("✓ ok  ", "green"),
    Mark.WARN: ("! warn", "yellow"),
    Mark.FAIL: ("✗ FAIL", "red"),
    Mark.SKIP: ("- skip", "bright_black"),
}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--live", is_flag=True, help="Also try what works with this token here, with scratch refs.")
@click.option("--fix", is_flag=True, help="First write what is missing: hooks, pages, rules, ignore lines.")
@click.pass_context
def command(ctx: click.Context, *, as_json: bool, live: bool, fix: bool) -> None:
    """Check the whole set-up, one line each, with the command that fixes it. Exit code 1 if anything fails.

    Looks at the command, git, worktrees, the claim and whether it is ignored, the hooks at every level and what they
    do, the settings, and on GitHub at the repository, token, scopes, clock, board and names. Changes nothing.

    With --fix it first does what `agent-sync init` would do but for .agent-sync.toml: missing and outdated hooks, pages
    and rules, and ignore lines; it says what it wrote, and `agent-sync uninstall` takes that out. It is for people:
    inside a session of an agent it is refused, because rules decide what an agent may do.

    With --live it also makes, moves and deletes a scratch ref, by git and through GitHub's interface, and asks for
    every permission it will need; what it leaves behind is nothing.

    \b
    Examples:
      agent-sync doctor
      agent-sync doctor --fix
      agent-sync doctor --live
      agent-sync doctor --json | jq '.checks[] | select(.mark == "fail")'
    """
    place, environment = place_here(), settings_file.environment()
    fixed = _fix(place, environment) if fix else InstallPlan(())
    if not as_json:
        tell_done(fixed)
    results = []
    for result in check_all(place, environment, live=live):
        results.append(result)
        if not as_json:
            _print(result)
    failed = sum(1 for result in results if result.mark is Mark.FAIL)
    if as_json:
        checks = [dataclasses.asdict(result) for result in results]
        written = [{"path": change.path, "done": f"{verb(change)}d"} for change in fixed.changes]
        values = {"ok": not failed, "checks": checks} | ({"fixed": written} if fix else {})
        click.echo(json.dumps(values, ensure_ascii=False))
    elif failed:
        click.echo(f"{failed} of {len(results)} checks failed.")
    ctx.exit(Exit.FAILED if failed else Exit.OK)


def _fix(place: Place, environment: Mapping[str, str]) -> InstallPlan:
    """Write what is missing; trouble with a file of the user's is said, and then nothing is written."""
    refuse_agent(environment, "have hooks and rules written", attempted="repairing the set-up")
    try:
        return repair(place, environment)
    except BadConfig as error:
        click.echo(f"note: nothing was fixed: {error.happened}", err=True)
        return InstallPlan(())


def _print(result: Result) -> None:
    words, colour = SHOWN[result.mark]
    click.echo(f"{click.style(words, fg=colour)}  {result.name:<16} {result.says}")
    if result.fix and result.mark is not Mark.OK:
        click.echo(f"{'':<24} fix: {result.fix}")
