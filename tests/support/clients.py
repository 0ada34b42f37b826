"""Clients that can be killed: processes on whose behalf commands run, each forked where everything is loaded already.

Loading takes most of a command's time, so one nursery loads once; clients are its children, commands theirs. What runs
is the command line itself, in a process of its own, with its own arguments, environment and directory.
"""

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from support.command import Ran

if TYPE_CHECKING:
    from agent_sync.demo.stage import Stage

_NURSERY = Path(__file__).with_name("nursery.py")


class Nursery:
    """The process that has loaded everything; it ends with whoever started it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-P", str(_NURSERY)], stdin=subprocess.PIPE, text=True)

    def child(self) -> socket.socket:
        """Have a client begun, and return the line to it."""
        with tempfile.TemporaryDirectory(prefix="client-") as directory, socket.socket(socket.AF_UNIX) as waiting:
            path = str(Path(directory, "line"))
            waiting.bind(path)
            waiting.listen(1)
            waiting.settimeout(60)
            assert self._process.stdin
            self._process.stdin.write(f"{path}\n")
            self._process.stdin.flush()
            return waiting.accept()[0]

    def close(self) -> None:
        """End it."""
        self._process.communicate()


@functools.cache
def shared_nursery() -> Nursery:
    """Return the nursery of this test process; it ends with it."""
    nursery = Nursery()
    atexit.register(nursery.close)
    return nursery


@functools.cache
def shared_client() -> "Client":
    """Return a client for commands that nobody interrupts."""
    client = Client(shared_nursery(), Path("/"))
    atexit.register(client.close)
    return client


class Client:
    """A process on whose behalf commands run, until it crashes."""

    def __init__(self, nursery: Nursery, root: Path) -> None:
        self._line = nursery.child()
        self._file = self._line.makefile("rw")
        self.root, self.pid = root, int(self._file.readline())
        # The process of the command that runs, for whoever wants to kill it alone.
        self.running: int | None = None

    def begin(self, *arguments: str, stdin: str = "", **environment: str) -> None:
        """Have a command started, without waiting for its end."""
        self._ask(arguments, stdin, dict(os.environ) | environment, self.root)

    def do_there(self, root: Path, environment: dict[str, str], *arguments: str, stdin: str) -> Ran:
        """Have a command run to its end in another directory, with exactly these variables."""
        self._ask(arguments, stdin, environment, root)
        return self._ended()

    def _ask(self, arguments: tuple[str, ...], stdin: str, environment: dict[str, str], root: Path) -> None:
        asked = {"arguments": arguments, "stdin": stdin, "environment": environment, "directory": str(root)}
        print(json.dumps(asked), file=self._file, flush=True)

    def do(self, *arguments: str, stdin: str = "", **environment: str) -> Ran:
        """Have a command run to its end."""
        self.begin(*arguments, stdin=stdin, **environment)
        return self._ended()

    def _ended(self) -> Ran:
        self.running = int(self._file.readline())
        try:
            return Ran(*json.loads(self._file.readline()))
        finally:
            self.running = None

    def crash(self) -> None:
        """Kill the client with all it has started, and wait until it is gone."""
        os.killpg(self.pid, signal.SIGKILL)
        self._line.settimeout(30)
        while self._line.recv(1 << 16):
            pass
        self.close()

    def close(self) -> None:
        """Let the client end."""
        self._file.close()
        self._line.close()


def at_once(jobs: Sequence[tuple["Stage", Sequence[str]]], *, apart_s: float = 0, stdin: str = "") -> list[Ran]:
    """Run commands at the same moment, each on its stage as a process of its own; return how each ended."""

    def play(place: int) -> Ran:
        stage, arguments = jobs[place]
        time.sleep(place * apart_s)
        return clients[place].do_there(stage.root, stage.environment, *arguments, stdin=stdin)

    with ExitStack() as stack, ThreadPoolExecutor(len(jobs)) as pool:
        clients = [stack.enter_context(closing(Client(shared_nursery(), stage.root))) for stage, _ in jobs]
        return list(pool.map(play, range(len(jobs))))
