"""`agent-sync uninstall`: take out of a repository what `init` put there."""

import os
from pathlib import Path

import click

from agent_sync.cli.asking import ask_consent, show, tell_done
from agent_sync.cli.here import context_here, place_here
from agent_sync.setup.install import carry_out, record as records
from agent_sync.setup.install.entries import home_elsewhere
from agent_sync.setup.install.plan import removal
from agent_sync.setup.install.purge import PurgePlan, purge as purged, purge_plan
from agent_sync.setup.install.tree import Tree


@click.command("uninstall")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--purge", is_flag=True, help="Also this clone's state, its records, `.forge/` and its copies of refs.")
def command(*, yes: bool, dry_run: bool, purge: bool) -> None:
    """Remove exactly what `agent-sync init` added; unchanged files are restored byte for byte.

    Also removes the line that `agent-sync claim` wrote to .git/info/exclude.
    Files changed since then keep those changes and lose only our entries. A held claim stays. With --purge everything
    goes that agent-sync keeps for this clone, which is listed, as is what stays; it is refused while a claim is held.

    \b
    Examples:
      agent-sync uninstall
      agent-sync uninstall --dry-run
      agent-sync uninstall --purge --dry-run
    """
    place = place_here()
    # What is removed must not be begun anew at the end of this very command.
    context = context_here(keeps_record=False) if purge else None
    doomed = purge_plan(context) if context else None
    tree, shared = Tree(Path(place.root), Path(place.common_dir)), Path(place.shared_dir)
    plan = removal(tree.read, records.load(shared), atlas_home=home_elsewhere(os.environ))
    show(plan)
    if doomed:
        _show_purge(doomed)
    if not plan.changes and (doomed is None or doomed.is_empty):
        click.echo("Nothing to do: nothing of agent-sync is set up here.")
    elif dry_run:
        click.echo("Nothing was written (--dry-run).")
    elif ask_consent("Write these changes?", yes=yes, command="agent-sync uninstall"):
        carry_out.uninstall(tree, shared, plan)
        tell_done(plan)
        if context and doomed:
            purged(context, doomed)
            click.echo("Purged what is listed above.")
        _mention_claim(Path(place.claim_file))
    else:
        click.echo("Nothing was written.")


def _show_purge(plan: PurgePlan) -> None:
    for line in plan.lines():
        click.echo(f"goes: {line}")
    for line in plan.stays:
        click.echo(f"stays: {line}")


def _mention_claim(claim: Path) -> None:
    if claim.exists():
        click.echo(f"note: {claim.name} is still held here; `agent-sync release` gives the task back", err=True)
