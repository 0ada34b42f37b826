"""`agent-sync demo`: claim to close, live."""

import sys
import time

import click


@click.command("demo")
@click.option("--fast", is_flag=True, help="Without pauses, for CI.")
@click.option("--picture", default="", metavar="FILE", help="Draw the end of it into an SVG file instead.")
def command(*, fast: bool, picture: str) -> None:
    """Play a whole task on a local GitHub: claim, code, PR, failing check, fix, merge, consent, close.

    Needs no token and no network, works in a temporary directory, and runs the real hook commands with inputs recorded
    from Claude Code.

    \b
    Example:
      agent-sync demo --fast
    """
    from agent_sync.demo.stage import stage
    from agent_sync.demo.story import check, check_end, story
    from agent_sync.demo.view import view

    began = time.monotonic()
    pause = 0.0 if fast else 1.2
    requests = 0
    with stage(with_gate=True) as scenery, view(is_terminal=sys.stdout.isatty(), pause=pause, picture=picture) as shown:
        for scene in story():
            played = scene.play(scenery)
            check(scene, played)
            requests += played.requests if played else 0
            shown.show(scene, played, scenery)
        end = check_end(scenery)
    click.echo(f"Done in {time.monotonic() - began:.0f} s with {requests} requests: {end}.")
