"""Gateways to a local GitHub, and the control interface beside them."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from agent_sync.context import Context
from agent_sync.gateway.github import GitHub
from agent_sync.gateway.port import Gateway
from agent_sync.settings import Settings
from agent_sync.worktree import worktree


def settings_of(**tables: dict[str, Any]) -> Settings:
    """Return settings for board 1, with tables laid over them."""
    return Settings.model_validate({"project": {"number": 1}} | tables)


def context_in(root: Path, settings: Settings, **environment: str) -> Context:
    """Return the context of a worktree with exactly this environment."""
    place = worktree(str(root))
    assert place is not None
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "GIT_CONFIG_GLOBAL")}
    return Context(place, settings, kept | environment, GitHub.reaching)


def repository_in(root: Path, remote: str) -> Path:
    """Make a git repository with one remote."""
    root.mkdir(parents=True, exist_ok=True)
    for command in (["init", "--quiet"], ["remote", "add", "origin", remote]):
        subprocess.run(["git", *command], cwd=root, check=True, timeout=60)
    return root


@dataclass
class Local:
    """A local GitHub, its control interface, and gateways to it."""

    url: str
    control: httpx.Client
    root: Path
    slept: list[float] = field(default_factory=list)

    def gateway(self, *, token: str = "any", **tables: dict[str, Any]) -> Gateway:
        """Return a gateway that notes its waits and does not really wait."""
        settings = settings_of(**({"github": {"url": self.url}} | tables))
        context = context_in(self.root, settings, GH_TOKEN=token, AGENT_SYNC_GITHUB_URL=self.url)
        return GitHub.reaching(context, sleep=self.slept.append)

    def act(self, name: str, /, **fields: Any) -> Any:
        """Let somebody act on the world."""
        answer = self.control.post("/_emulator/act", json={"act": name, **fields})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def fault(self, kind: str, *, times: int = 1, **match: str) -> None:
        """Order trouble."""
        order = {"match": match, "times": times, "fault": kind}
        assert self.control.post("/_emulator/faults", json=order).status_code == 200

    def state(self) -> dict[str, list[dict[str, Any]]]:
        """Return the world."""
        return self.control.get("/_emulator/state").json()

    def card(self, issue: int = 42) -> dict[str, Any]:
        """Return what the card of an issue shows."""
        return next(item["fields"] for item in self.state()["items"] if item["issue"] == issue)

    def operations(self) -> list[str]:
        """Return the operations asked for so far, and forget them."""
        journal = self.control.get("/_emulator/requests").json()
        self.control.delete("/_emulator/requests")
        return [entry["operation"] for entry in journal]

    def git(self, *arguments: str) -> None:
        """Run git in the clone."""
        subprocess.run(["git", *arguments], cwd=self.root, check=True, timeout=60)

    def push(self, branch: str = "work", **more: Any) -> str:
        """Put a branch with one commit on GitHub."""
        self.act("push_commit", branch=branch, **({"path": "work.txt", "content": f"{branch}\n"} | more))
        return branch
