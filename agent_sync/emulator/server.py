"""Running the local GitHub: in a thread for tests and the demo, or as a process of its own."""

import asyncio
import json
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from agent_sync.emulator.application import Application
from agent_sync.emulator.control import Control
from agent_sync.emulator.persistence import ForeignWorldError, Keeper, open_world
from agent_sync.emulator.scenarios import SCENARIOS
from agent_sync.emulator.world.bare import unusable_git
from agent_sync.emulator.world.world import World

LOOPBACK = "127.0.0.1"
PATIENCE_S = 10.0


class CannotServeError(Exception):
    """The server cannot be started as asked."""


@dataclass(frozen=True)
class Running:
    """A server that answers."""

    url: str
    world: World
    control: Control


@contextmanager
def running(
    scenario: str = "small",
    state: str | os.PathLike[str] | None = None,
    *,
    port: int = 0,
    host: str = LOOPBACK,
    unix_socket: str | None = None,
) -> Iterator[Running]:
    """Serve a world from a background thread for as long as the block lasts."""
    if scenario not in SCENARIOS:
        raise CannotServeError(f"There is no scenario {scenario!r}; known: {', '.join(SCENARIOS)}.")
    if problem := unusable_git():
        raise CannotServeError(f"The local GitHub needs git 2.38 or newer on the PATH: {problem}.")
    with ExitStack() as stack:
        sockets = [stack.enter_context(_listening(host, port))]
        if unix_socket:
            sockets.append(stack.enter_context(_listening_unix(unix_socket)))
        home = Path(state) if state else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        world = _opened(home, scenario)
        keeper = Keeper(world, home) if state else None
        if keeper:
            keeper.start()
            stack.callback(keeper.stop)
        application = Application(world, keeper.note_change if keeper else lambda: None)
        stack.enter_context(_answering(application, sockets))
        number = sockets[0].getsockname()[1]
        yield Running(f"http://{f'[{host}]' if ':' in host else host}:{number}", world, application.control)


def _opened(home: Path, scenario: str) -> World:
    try:
        return open_world(home, scenario)
    except ForeignWorldError as error:
        raise CannotServeError(str(error)) from error


@contextmanager
def _answering(application: Application, sockets: list[socket.socket]) -> Iterator[None]:
    config = uvicorn.Config(
        application, http="h11", ws="none", lifespan="off", loop="asyncio", log_config=None, access_log=False,
        log_level="critical", server_header=False, date_header=False, timeout_graceful_shutdown=2,
        timeout_keep_alive=60,
    )  # fmt: skip
    server = _Server(config)
    thread = threading.Thread(target=server.run, args=(sockets,), name="local GitHub", daemon=True)
    thread.start()
    try:
        _wait_until_started(server, thread)
        yield
    finally:
        server.stop()
        thread.join(PATIENCE_S)


class _Server(uvicorn.Server):
    """A server that is told when to stop, and does; uvicorn's own looks ten times a second whether it was."""

    _loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Get ready to be told before anybody can see that the server has started."""
        self._loop, self._told = asyncio.get_running_loop(), asyncio.Event()
        await super().startup(sockets=sockets)

    async def main_loop(self) -> None:
        """Serve until told to stop."""
        await self.on_tick(0)
        await self._told.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End connections that are idle, and wait for the answers of the others; uvicorn's own sleeps in any case."""
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.config.timeout_graceful_shutdown):
                while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110  # plain sets
                    await asyncio.sleep(0.002)
        for task in self.server_state.tasks:
            task.cancel()

    def stop(self) -> None:
        """Tell it, from any thread."""
        self.should_exit = True
        # It may never have begun, or have ended by itself.
        with suppress(RuntimeError):
            if self._loop:
                self._loop.call_soon_threadsafe(self._told.set)


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    # The sockets listen already; a request that comes a moment early just waits in their queue.
    while not server.started:
        thread.join(0.005)
        if not thread.is_alive():
            raise CannotServeError("The server ended before it could answer.")


def _listening(host: str, port: int) -> socket.socket:
    if not ip_address(host).is_loopback:
        raise CannotServeError(f"The local GitHub serves on loopback only, not on {host}.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only with its protocol named does asyncio switch Nagle's algorithm off: 40 ms for every answer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise CannotServeError(f"Port {port} on {host} cannot be used: {error.strerror}.") from error
    listener.listen(128)
    return listener


@contextmanager
def _listening_unix(path: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen(128)
        try:
            yield listener
        finally:
            Path(path).unlink(missing_ok=True)


def serve(port: int, scenario: str, state: str | None, unix_socket: str | None = None) -> None:
    """Serve until told to stop, after one line that says where."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with running(scenario, state, port=port, unix_socket=unix_socket) as server:
        sys.stdout.write(json.dumps({"url": server.url, "pid": os.getpid()}) + "\n")
        sys.stdout.flush()
        stop.wait()
