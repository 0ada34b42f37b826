"""`agent-sync ui`: the fleet in the browser, on this machine only."""

import click

from agent_sync.cli.here import context_here, refuse_agent
from agent_sync.errors import WrongState

INSTALL = "pipx install 'agent-sync-github[ui]'"


@click.command("ui")
@click.option(
    "--actions", "has_actions", is_flag=True, help="Offer done, release, take over and retry, each asked twice."
)
@click.option("--port", default=0, show_default="a free one", help="The port on 127.0.0.1.")
@click.option("--no-open", is_flag=True, help="Only print the link.")
def command(*, has_actions: bool, port: int, no_open: bool) -> None:
    """Show the fleet in the browser: who works, what waits for you, what is stuck, with a page for each task.

    It serves on 127.0.0.1 alone and prints a link with a secret as its first line; whoever has the link can look.
    Without --actions nothing can be changed. GitHub is asked only while a page is open. Ctrl-C ends it.

    \b
    Examples:
      agent-sync ui
      agent-sync ui --no-open --port 8400
    """
    try:
        from agent_sync.fleet.web.server import serve
    except ImportError as error:
        missing = "The page needs starlette and uvicorn, which are not installed."
        raise WrongState(missing, attempted="starting the page", helps=INSTALL) from error
    context = context_here(keeps_record=False)
    if has_actions:
        refuse_agent(context.environment, "have buttons on the page", attempted="starting the page")
    serve(context, port=port, has_actions=has_actions, opens=not no_open, tell=click.echo)
