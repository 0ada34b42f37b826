"""The process that forks clients: it has loaded everything a command can load, so that no command loads it again."""

import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import agent_sync
from agent_sync.__main__ import main
from agent_sync.lazy_patterns import pattern
from agent_sync.system import clock

# What only servers load, and what acts when it is loaded.
_LEFT_OUT = ("agent_sync.emulator", "agent_sync.fleet.web", "agent_sync.__main__", "agent_sync.action.__main__")
# Beside a clone: by how many seconds the commands in it are late; see `support.clones.long_ago`.
LATE = "late-by"
# What commands import in the moment they need it.
_LATE = ("cryptography.hazmat.primitives.asymmetric.ed25519", "pydantic", "rich.console", "rich.live", "ruamel.yaml")


def load_everything() -> None:
    """Import every module, build every class that its first instance would build, and compile every pattern."""
    for module in pkgutil.walk_packages(agent_sync.__path__, "agent_sync."):
        if not module.name.startswith(_LEFT_OUT):
            importlib.import_module(module.name)
    for name in _LATE:
        importlib.import_module(name)
    for one in [one for one in gc.get_objects() if isinstance(one, type)]:
        if str(one.__module__).startswith("agent_sync."):
            getattr(one, "__dataclass_fields__", None)
            getattr(one, "model_rebuild", lambda: None)()
    for one in [one for one in gc.get_objects() if type(one) is pattern]:
        # It keeps each method from when it was first asked for.
        _ = (one.search, one.match, one.fullmatch, one.sub, one.finditer, one.findall, one.split)
    # What is here now is never collected: looking at it would copy its memory into every child.
    gc.collect()
    gc.freeze()


def command(asked: dict[str, Any], say: Callable[[Any], None]) -> None:
    """Run the command line in a child; say its process, then its exit status and what it printed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
        given.write(asked["stdin"].encode("utf-8", "surrogateescape"))
        given.seek(0)
        pid = os.fork()
        if pid == 0:
            for own, number in ((given, 0), (out, 1), (err, 2)):
                os.dup2(own.fileno(), number)
            _become(asked)
        say(pid)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        say([status, *(os.pread(one.fileno(), 1 << 24, 0).decode() for one in (out, err))])


def _become(asked: dict[str, Any]) -> None:
    """Be the command: with its arguments, environment and directory, until it ends."""
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["directory"])
    late = Path(asked["directory"]).parent / LATE
    if late.exists():
        behind = timedelta(seconds=float(late.read_text()))
        clock.now = lambda: datetime.now(UTC) - behind
    sys.argv = ["agent-sync", *asked["arguments"]]
    status = 70
    try:
        main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def client(path: str) -> None:
    """Run the commands that come over a line, until it is closed."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(path)
        with line.makefile("rw") as asked:

            def say(value: Any) -> None:
                print(json.dumps(value), file=asked, flush=True)

            say(os.getpid())
            for request in asked:
                command(json.loads(request), say)
    os._exit(0)


if __name__ == "__main__":
    load_everything()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while name := sys.stdin.readline().strip():
        if os.fork() == 0:
            client(name)
