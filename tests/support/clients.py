"""Clients that can be killed: processes on whose behalf commands run, each forked where everything is loaded already.

Loading takes most of a command's time, so one nursery loads once; clients are its children, commands theirs. What runs
is the command line itself, in a process of its own, with its own arguments, environment and directory.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from support.command import Ran

_NURSERY = """
import importlib, json, os, signal, socket, sys, tempfile
from agent_sync.__main__ import main
from agent_sync.cli.app import COMMANDS
import agent_sync.events.run, agent_sync.record.receipts.signing, cryptography.hazmat.primitives.asymmetric.ed25519
import agent_sync.gateway.github, agent_sync.record.keep, agent_sync.leases.fence
for module, _ in COMMANDS.values():
    importlib.import_module(module.partition(":")[0])

def command(asked):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
        given.write(asked["stdin"].encode()); given.seek(0)
        pid = os.fork()
        if pid == 0:
            for own, number in ((given, 0), (out, 1), (err, 2)):
                os.dup2(own.fileno(), number)
            os.environ.clear(); os.environ.update(asked["environment"]); os.chdir(asked["directory"])
            sys.argv = ["agent-sync", *asked["arguments"]]
            status = 70
            try:
                main()
                status = 0
            except SystemExit as end:
                status = end.code or 0
            finally:
                sys.stdout.flush(); sys.stderr.flush(); os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return [status, *(os.pread(one.fileno(), 1 << 24, 0).decode() for one in (out, err))]

def client(path):
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(path)
        with line.makefile("rw") as asked:
            print(os.getpid(), file=asked, flush=True)
            for request in asked:
                print(json.dumps(command(json.loads(request))), file=asked, flush=True)
    os._exit(0)

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while path := sys.stdin.readline().strip():
    if os.fork() == 0:
        client(path)
"""


class Nursery:
    """The process that has loaded everything; it ends with whoever started it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", _NURSERY], stdin=subprocess.PIPE, text=True)

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


class Client:
    """A process on whose behalf commands run, until it crashes."""

    def __init__(self, nursery: Nursery, root: Path) -> None:
        self._line = nursery.child()
        self._file = self._line.makefile("rw")
        self.root, self.pid = root, int(self._file.readline())

    def begin(self, *arguments: str, stdin: str = "", **environment: str) -> None:
        """Have a command started, without waiting for its end."""
        self._ask(arguments, stdin, dict(os.environ) | environment, self.root)

    def do_there(self, root: Path, environment: dict[str, str], *arguments: str, stdin: str) -> Ran:
        """Have a command run to its end in another directory, with exactly these variables."""
        self._ask(arguments, stdin, environment, root)
        return Ran(*json.loads(self._file.readline()))

    def _ask(self, arguments: tuple[str, ...], stdin: str, environment: dict[str, str], root: Path) -> None:
        asked = {"arguments": arguments, "stdin": stdin, "environment": environment, "directory": str(root)}
        print(json.dumps(asked), file=self._file, flush=True)

    def do(self, *arguments: str, stdin: str = "", **environment: str) -> Ran:
        """Have a command run to its end."""
        self.begin(*arguments, stdin=stdin, **environment)
        return Ran(*json.loads(self._file.readline()))

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
