"""`agent-sync demo`: claim to close, live."""

import sys
import time
from pathlib import Path

import click

from agent_sync.errors import BadInput


@click.command("demo")
@click.option("--fast", is_flag=True, help="Without pauses, for CI.")
@click.option("--serve", is_flag=True, help="Keep the local GitHub running afterwards, to open its pages in a browser.")
@click.option("--costs", is_flag=True, help="Show which commands ran, their requests to GitHub and their time.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also draw it into FILE as a picture that moves (SVG).",
)
def command(*, fast: bool, serve: bool, costs: bool, picture: Path | None) -> None:
    """Play a whole task on a local GitHub: claim, code, PR, failing check, fix, merge, consent, close.

    Needs no token and no network, works in a temporary directory, and runs the real hook commands with inputs recorded
    from Claude Code. It leaves nothing behind.

    \b
    Example:
      agent-sync demo --serve
    """
    from agent_sync.demo.ending import LOOK_INTO_IT, OWN_REPOSITORY, visiting_hours, wait_until_stopped
    from agent_sync.demo.picture import drawn
    from agent_sync.demo.playing import play
    from agent_sync.demo.stage import stage
    from agent_sync.demo.story import check_end
    from agent_sync.demo.view import view

    if picture and not picture.parent.is_dir():
        raise BadInput(f"The picture cannot be written: there is no directory {picture.parent}.")
    began = time.monotonic()
    shown = view(is_terminal=sys.stdout.isatty(), pause=0.0 if fast else 1.2, with_costs=costs)
    with stage(with_gate=True) as scenery:
        moments = play(scenery, shown)
        click.echo(f"\nDone in {time.monotonic() - began:.0f} s: {check_end(scenery)}.")
        if picture:
            picture.write_text(drawn(moments), encoding="utf-8")
            click.echo(f"The picture is in {picture}.")
        click.echo(f"\n{OWN_REPOSITORY}\n\n{visiting_hours(scenery) if serve else LOOK_INTO_IT}")
        if serve:
            wait_until_stopped()
