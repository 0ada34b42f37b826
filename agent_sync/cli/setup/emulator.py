"""`agent-sync emulator`: a local GitHub to try things on."""

import click

from agent_sync.errors import BadInput, WrongState


@click.group("emulator")
def command() -> None:
    """Run a local GitHub: issues, boards, pull requests, checks and git, on loopback only."""


@command.command("serve")
@click.option("--port", default=0, show_default=True, help="Port on 127.0.0.1; 0 means any.")
@click.option(
    "--scenario", default="small", show_default=True, help="The world to start with: small, empty, large or team."
)
@click.option("--state", default=None, help="Keep the world in this directory between runs.")
@click.option("--unix-socket", default=None, help="Listen on this socket too, as `gh` can use one.")
@click.option("--json", is_flag=True, expose_value=False, help="Accepted: the line is JSON always.")
def serve(*, port: int, scenario: str, state: str | None, unix_socket: str | None) -> None:
    """Serve until interrupted; prints one line of JSON with the address when ready.

    \b
    Examples:
      agent-sync emulator serve --port 8042
      curl http://127.0.0.1:8042/_emulator/state
      git clone http://127.0.0.1:8042/octo/demo.git
    """
    try:
        from agent_sync.emulator import server
    except ImportError as error:
        missing = "The local GitHub needs packages that are not installed."
        raise WrongState(missing, helps="pipx install 'agent-sync-github[emulator]'") from error
    try:
        server.serve(port, scenario, state, unix_socket)
    except (server.CannotServeError, OSError) as error:
        raise BadInput(f"The local GitHub cannot start: {error}", helps="agent-sync emulator serve --port 0") from error
