"""A client of the kind Claude Code is: one long-lived process that runs hooks and commands through `sh -c`."""

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Self

from support.stage import Theatre

_CLIENT = """
import json, subprocess, sys
for line in sys.stdin:
    command, given = json.loads(line)
    done = subprocess.run(["sh", "-c", command], input=given, text=True, capture_output=True)
    print(json.dumps([done.returncode, done.stdout, done.stderr]), flush=True)
"""


@dataclass(frozen=True)
class Answer:
    """How a command line of the client ended."""

    status: int
    stdout: str
    stderr: str


class Client:
    """One session in the worktree of a theatre; leaving it kills the client."""

    def __init__(self, theatre: Theatre, session_id: str = "s1", **variables: str) -> None:
        self._root = str(theatre.stage.root)
        self.session_id = session_id
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CLIENT],
            cwd=self._root,
            env=theatre.stage.environment | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.kill()

    @property
    def pid(self) -> int:
        """The number of the client's process."""
        return self._process.pid

    def line(self, command: str, given: str = "") -> Answer:
        """Run a line of the shell, in which `agent-sync` is the one that is tested."""
        own = command.replace("agent-sync", f"{shlex.quote(sys.executable)} -m agent_sync")
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([own, given]) + "\n")
        self._process.stdin.flush()
        return Answer(*json.loads(self._process.stdout.readline()))

    def hook(self, name: str, **values: Any) -> Answer:
        """Run a hook with an input that has all that Claude Code gives, so that it may be answered quietly."""
        given = {"session_id": self.session_id, "cwd": self._root} | values
        return self.line(f"agent-sync {name}", json.dumps(given))
