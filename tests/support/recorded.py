"""The recorded tasks of a clone, through the command line and as they lie on disk."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from support.clients import Client, Nursery
from support.command import Ran

# What a command that `validate` runs calls the process that runs it; on Linux a warden stands between the two.
RUNNER = "$(ps -o ppid= -p $PPID)" if sys.platform == "linux" else "$PPID"


class Tasks:
    """The recorded tasks of one clone, and the clients that work on them."""

    def __init__(self, root: Path, home: Path, nursery: Nursery) -> None:
        self.root, self.home, self._nursery = root, home / ".atlas", nursery
        self._clients: list[Client] = []
        self._own = self.client()

    def client(self) -> Client:
        """Start a client."""
        self._clients.append(Client(self._nursery, self.root))
        return self._clients[-1]

    def close(self) -> None:
        """Let every client end that still lives."""
        for client in self._clients:
            client.close()

    def do(self, *arguments: str, stdin: str = "", **environment: str) -> Ran:
        """Run a command on behalf of a client that does not crash."""
        return self._own.do(*arguments, stdin=stdin, **environment)

    def git(self, *arguments: str) -> str:
        """Run git as a person would."""
        done = subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def hold(self, phase: str = "coding", **fields: Any) -> None:
        """Write a claim file by hand."""
        values = {"schema_version": 1, "issue_number": 42, "branch": "work", "agent_id": "test", "phase": phase}
        (self.root / ".agent-claim.json").write_text(json.dumps(values | fields))

    def directory(self, task_id: str) -> Path:
        """Return where a task's record is."""
        return next((self.home / "workspaces").glob(f"*/tasks/{task_id}"))

    def record(self, task_id: str) -> dict[str, Any]:
        """Return what hook.json says."""
        return dict(json.loads((self.directory(task_id) / "hook.json").read_text()))

    def edges(self) -> set[tuple[str, str]]:
        """Return the move and the state it began in, of everything that ever happened to a task here."""
        files = (self.home / "workspaces").glob("*/tasks/*/hook.json")
        events = [event for file in files for event in json.loads(file.read_text())["history"]]
        return {(event["trigger"], event["from_state"]) for event in events if event["from_state"]}

    def wait_for(self, task_id: str, state: str) -> None:
        """Wait until a task that somebody works on is in a state."""
        until = time.monotonic() + 30
        while time.monotonic() < until:
            for file in (self.home / "workspaces").glob(f"*/tasks/{task_id}/hook.json"):
                if json.loads(file.read_text())["state"] == state:
                    return
            time.sleep(0.02)
        raise AssertionError(f"{task_id} never was {state}")
