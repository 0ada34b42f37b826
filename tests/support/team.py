"""People of a team: clones of two repositories of one organisation that share a board, on one local GitHub."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.command import COVERAGE
from support.stage import Theatre, quick

from agent_sync.demo.stage import Stage
from agent_sync.emulator.server import running

BOARD = {"AGENT_SYNC_PROJECT_OWNER": "acme", "AGENT_SYNC_PROJECT_NUMBER": "7"}


@dataclass(frozen=True)
class Team:
    """The local GitHub of the scenario `team`, and where its members' clones lie."""

    url: str
    directory: Path

    def member(self, name: str, repository: str, **variables: str) -> Theatre:
        """Clone a repository for one member, with a home of their own."""
        home, root = self.directory / f"home-{name}", self.directory / name
        home.mkdir()
        environment = self._environment(home) | variables
        subprocess.run(
            ["git", "clone", "--quiet", f"{self.url}/{repository}.git", str(root)], env=environment, check=True
        )
        given = {key: value for key, value in environment.items() if value}
        return Theatre(quick(Stage(self.url, root, given)))

    def _environment(self, home: Path) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        people = {f"GIT_{role}_{key}": "agent@x" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
        own = {"HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return kept | people | own | BOARD | COVERAGE | {"AGENT_SYNC_GITHUB_URL": self.url}


@contextlib.contextmanager
def team_at(directory: Path) -> Iterator[Team]:
    """Set the team's GitHub up."""
    with running("team") as server:
        yield Team(server.url, directory)


def issues_of(world: dict[str, Any], repository: str) -> dict[int, dict[str, Any]]:
    """Return a repository's issues by number, each with what its card shows."""
    cards = {item["issue"]: item["fields"] for item in world["items"] if item["repo"] == repository}
    found = (issue for issue in world["issues"] if issue["repo"] == repository)
    return {issue["number"]: issue | {"card": cards.get(issue["number"])} for issue in found}
