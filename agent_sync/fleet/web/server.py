"""Serves the page on loopback until it is interrupted."""

import asyncio
import socket
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from agent_sync.context import Context
from agent_sync.errors import BadInput
from agent_sync.fleet.web.door import Door, DoorKeys
from agent_sync.fleet.web.feed import Feed
from agent_sync.fleet.web.routes import application
from agent_sync.fleet.web.source import FleetSource

LOOPBACK = "127.0.0.1"


def serve(context: Context, *, port: int, has_actions: bool, opens: bool, tell: Callable[[str], None]) -> None:
    """Serve the fleet of a repository; `tell` is given the link once the server listens."""
    with _listening(port) as listener:
        keys = DoorKeys(listener.getsockname()[1], has_actions=has_actions)
        tell(keys.link)
        source = FleetSource(context)
        asyncio.run(_serve(listener, keys, source, context.settings.checks.backoff_s, opens=opens))


async def _serve(listener: socket.socket, keys: DoorKeys, source: FleetSource, every_s: float, *, opens: bool) -> None:
    feed = Feed(source.look, every_s)
    server = _Server(_config(Door(application(keys, feed, source), keys)), feed)
    looking = asyncio.create_task(feed.keep_looking())
    with tempfile.TemporaryDirectory(prefix="agent-sync-ui-") as private:
        if opens:
            _open_browser(Path(private), keys.link)
        await server.serve(sockets=[listener])
    looking.cancel()


class _Server(uvicorn.Server):
    """Ends open streams at once when it is told to stop; otherwise each would have to be waited for."""

    def __init__(self, config: uvicorn.Config, feed: Feed) -> None:
        super().__init__(config)
        self.feed = feed

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal: end the streams, then the server."""
        self.feed.close_soon()
        super().handle_exit(sig, frame)


def _config(app: Door) -> uvicorn.Config:
    return uvicorn.Config(
        app, http="h11", ws="none", lifespan="off", loop="asyncio", log_config=None, log_level="critical",
        access_log=False, server_header=False, proxy_headers=False, limit_concurrency=64, timeout_graceful_shutdown=2,
    )  # fmt: skip


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise BadInput(f"Port {port} cannot be used: {error.strerror}.", helps="agent-sync ui --port 0") from error


def _open_browser(private: Path, link: str) -> None:
    """Open the link through a file that only this user can read: arguments of programs are seen by everybody."""
    page = private / "open.html"
    page.touch(mode=0o600)
    page.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={link}">', encoding="utf-8")
    webbrowser.open(page.as_uri())
