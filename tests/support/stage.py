"""The demo's stage for acceptance tests: a clone of the local GitHub in which real commands run."""

import atexit
import functools
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from support.clients import Client, shared_client
from support.command import COVERAGE

from agent_sync.demo.stage import Played, Stage, cloned, environment_of
from agent_sync.emulator.server import running


@dataclass(frozen=True)
class QuickStage(Stage):
    """The same stage, whose commands are forked where everything is loaded already."""

    client: Client

    def run(self, *arguments: str, stdin: str) -> tuple[int, str, str]:
        """Run a command to its end; return its exit status and what it printed."""
        ran = self.client.do_there(self.root, self.environment, *arguments, stdin=stdin)
        return ran.status, ran.stdout, ran.stderr


@functools.cache
def _cloned_once() -> Stage:
    """Clone the local GitHub, whose contents are the same at every start; the clone is there until the tests end."""
    directory = Path(tempfile.mkdtemp(prefix="agent-sync-clone-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    with running("small") as server:
        return cloned(server.url, directory)


def clone(url: str, root: Path, environment: dict[str, str], refs: list[dict[str, str]]) -> None:
    """Clone the local GitHub; while no branch of it has moved, a copy of an earlier clone is the same."""
    branches = {one["name"]: one["sha"] for one in refs if one["name"].startswith(("refs/heads/", "refs/tags/"))}
    if branches == {"refs/heads/main": (_cloned_once().root / ".git" / "refs" / "heads" / "main").read_text().strip()}:
        _copy_clone(url, root)
    else:
        subprocess.run(["git", "clone", "--quiet", f"{url}/octo/demo.git", str(root)], env=environment, check=True)


def _copy_clone(url: str, root: Path) -> None:
    """Copy the clone of a local GitHub in which no branch has moved yet."""
    made = _cloned_once()
    shutil.copytree(made.root, root, symlinks=True)
    # These say where it was cloned from.
    for file in (root / ".git" / "config", *(root / ".git" / "logs").rglob("*")):
        if file.is_file():
            file.write_text(file.read_text().replace(made.url, url))


@contextmanager
def clone_of_github() -> Iterator[Stage]:
    """Set up a local GitHub and a clone of it."""
    with (
        running("small") as server,
        tempfile.TemporaryDirectory(prefix="agent-sync-demo-", ignore_cleanup_errors=True) as directory,
    ):
        home, root = Path(directory, "home"), Path(directory, "demo")
        home.mkdir()
        _copy_clone(server.url, root)
        yield Stage(server.url, root, environment_of(server.url, home))


def quick(scenery: Stage) -> Stage:
    """Return the same stage with commands that load nothing, unless what they reach is measured."""
    if COVERAGE:
        return scenery
    return QuickStage(scenery.url, scenery.root, scenery.environment, shared_client())


@dataclass(frozen=True)
class Theatre:
    """A stage with the words a test needs."""

    stage: Stage

    def hold(self, **fields: Any) -> None:
        """Write a claim file by hand, as the documentation shows it."""
        values = {
            "schema_version": 1,
            "item_id": "TEST",
            "issue_number": 42,
            "branch": "claude/test",
            "agent_id": "test",
            "phase": "coding",
            "summary": "",
            "status": "In Progress",
            "pr_number": None,
            "last_check_poll": None,
            "last_synced_status": "In Progress",
        }
        (self.stage.root / ".agent-claim.json").write_text(json.dumps(values | fields))

    def edit_claim(self, **fields: Any) -> None:
        """Change the claim that is there, as an agent's editor does."""
        claim = self.stage.claim() or {}
        (self.stage.root / ".agent-claim.json").write_text(json.dumps(claim | fields))

    def git(self, *arguments: str) -> str:
        """Run git in the clone."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.stage.root,
            env=self.stage.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def work(self, branch: str = "claude/test", *, push: bool = True) -> None:
        """Commit something on a branch, and push it."""
        self.git("switch", "-q", "-c", branch)
        self.stage.commit("work.txt", "work\n", "Work")
        if push:
            self.git("push", "-q", "origin", branch)

    def hook(self, *arguments: str, stdin: str = "{}", **variables: str) -> Played:
        """Run a hook as the manual tests do."""
        return replace(self.stage, environment=self.stage.environment | variables).command(*arguments, stdin=stdin)

    def operations(self) -> list[str]:
        """Return the names of the requests since the last command began."""
        return [entry["operation"] for entry in self.stage.control("GET", "requests")]

    def fault(self, fault: str, *, times: int = 1, **match: str) -> None:
        """Make the local GitHub misbehave."""
        self.stage.control("POST", "faults", {"match": match, "times": times, "fault": fault})

    def faults_left(self) -> list[dict[str, Any]]:
        """Return the trouble that no request has met yet; one that is delayed has met its own."""
        return list(self.stage.control("GET", "faults"))

    def issue(self, number: int = 42) -> dict[str, Any]:
        """Return an issue as it is now."""
        return next(issue for issue in self.stage.world()["issues"] if issue["number"] == number)

    def card(self, number: int = 42) -> dict[str, Any]:
        """Return the fields of an issue's card."""
        return dict(next(item for item in self.stage.world()["items"] if item["issue"] == number)["fields"])

    def pulls(self) -> list[dict[str, Any]]:
        """Return every pull request."""
        return list(self.stage.world()["pulls"])

    def comments(self, number: int = 42) -> list[str]:
        """Return the comments of an issue."""
        return [comment["body"] for comment in self.stage.world()["comments"] if comment["issue"] == number]

    def popen(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start a command without waiting for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "agent_sync", *arguments],
            cwd=self.stage.root,
            env=self.stage.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def reply(played: Played) -> dict[str, Any]:
    """Return what a hook answered; silence is an empty object."""
    return dict(json.loads(played.stdout)) if played.stdout else {}


def agent(played: Played) -> str:
    """Return what the agent reads."""
    return str(reply(played).get("hookSpecificOutput", {}).get("additionalContext", ""))


def human(played: Played) -> str:
    """Return what the human sees."""
    return str(reply(played).get("systemMessage", ""))
