"""Serving the local GitHub without the rest of the tool: `python -m agent_sync.emulator serve`."""

import argparse
import sys

from agent_sync.emulator.server import CannotServeError, serve


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(prog="agent_sync.emulator", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="serve the local GitHub on loopback")
    serving.add_argument("--port", type=int, default=0, help="0 takes any free port")
    serving.add_argument("--scenario", default="small", help="small, empty, large or team")
    serving.add_argument("--state", help="directory to keep the world in")
    serving.add_argument("--unix-socket", help="also listen on this socket, which suits gh")
    arguments = parser.parse_args()
    try:
        serve(arguments.port, arguments.scenario, arguments.state, arguments.unix_socket)
    except CannotServeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
