"""The demo's stage for acceptance tests: a clone of the local GitHub in which real commands run."""

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Any

from support.clients import Client, shared_client
from support.command import COVERAGE

from agent_sync.demo.stage import Played, Stage


@dataclass(frozen=True)
class QuickStage(Stage):
    """The same stage, whose commands are forked where everything is loaded already."""

    client: Client

    def run(self, *arguments: str, stdin: str) -> tuple[int, str, str]:
        """Run a command to its end; return its exit status and what it printed."""
        ran = self.client.do_there(self.root, self.environment, *arguments, stdin=stdin)
        return ran.status, ran.stdout, ran.stderr


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
