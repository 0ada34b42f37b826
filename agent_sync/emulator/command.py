"""The command that serves the local GitHub."""


def serve(port: int, scenario: str, state: str | None, unix_socket: str | None = None) -> None:
    """Serve on loopback until interrupted; the server's packages load only here."""
    from agent_sync.emulator import server

    server.serve(port, scenario, state, unix_socket)
