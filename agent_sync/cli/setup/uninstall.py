"""`agent-sync uninstall`: take out of a repository what `init` put there."""

import os
from pathlib import Path

import click

from agent_sync.cli.asking import ask_consent, show, tell_done
from agent_sync.cli.here import place_here
from agent_sync.setup.install import carry_out, record as records
from agent_sync.setup.install.entries import home_elsewhere
from agent_sync.setup.install.plan import removal
from agent_sync.setup.install.tree import Tree


@click.command("uninstall")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
def command(*, yes: bool, dry_run: bool) -> None:
    """Remove exactly what `agent-sync init` added; unchanged files are restored byte for byte.

    Also removes the line that `agent-sync claim` wrote to .git/info/exclude.
    Files changed since then keep those changes and lose only our entries. A held claim stays.

    \b
    Examples:
      agent-sync uninstall
      agent-sync uninstall --dry-run
    """
    place = place_here()
    tree, shared = Tree(Path(place.root), Path(place.common_dir)), Path(place.shared_dir)
    plan = removal(tree.read, records.load(shared), atlas_home=home_elsewhere(os.environ))
    show(plan)
    if not plan.changes:
        click.echo("Nothing to do: nothing of agent-sync is set up here.")
    elif dry_run:
        click.echo("Nothing was written (--dry-run).")
    elif ask_consent("Write these changes?", yes=yes, command="agent-sync uninstall"):
        carry_out.uninstall(tree, shared, plan)
        tell_done(plan)
        _mention_claim(Path(place.claim_file))
    else:
        click.echo("Nothing was written.")


def _mention_claim(claim: Path) -> None:
    if claim.exists():
        click.echo(f"note: {claim.name} is still held here; `agent-sync release` gives the task back", err=True)
