"""`agent-sync statusline`: the help page; without options it is answered before click is loaded."""

import click

from agent_sync.events import statusline
from agent_sync.quiet.answer import read_stdin


@click.command("statusline")
def command() -> None:
    """Print the claim held here as one line, such as `#42 · PR #45 · checks 2/3`; nothing where none is held.

    Reads the client's JSON on standard input and the claim file, nothing else: no network, no git. Always exits 0.

    \b
    Example:
      echo '{}' | agent-sync statusline
    """
    line = statusline.line_for(read_stdin(statusline.PATIENCE))
    if line:
        click.echo(line)
