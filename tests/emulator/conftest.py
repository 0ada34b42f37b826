"""A local GitHub, a client and real git for each test, all in temporary directories."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.surroundings import NO_CERTIFICATES

from agent_sync.emulator.server import Running, running

REPO = "/repos/octo/demo"
ANYONE = "any"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_TERMINAL_PROMPT", "0")
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@dataclass
class Client:
    """Plain HTTP to the server, with shortcuts for its control interface."""

    http: Any

    def call(self, method: str, path: str, *, token: str = ANYONE, **more: Any) -> Any:
        """Send one request and return the response."""
        headers = {"authorization": f"token {token}"} | more.pop("headers", {})
        return self.http.request(method, path, headers=headers, **more)

    def read(self, path: str) -> Any:
        """Return the JSON at a path."""
        return self.call("GET", path).raise_for_status().json()

    def post(self, path: str, body: Any, *, token: str = ANYONE) -> Any:
        """Send JSON and return the response."""
        return self.call("POST", path, json=body, token=token)

    def act(self, name: str, /, **fields: Any) -> Any:
        """Perform an act and return its answer, which must be a good one."""
        answer = self.http.post("/_emulator/act", json={"act": name, **fields})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused_act(self, name: str, /, **fields: Any) -> str:
        """Perform an act that cannot work and return the error."""
        answer = self.http.post("/_emulator/act", json={"act": name, **fields})
        assert answer.status_code == 422
        assert answer.json()["ok"] is False
        return str(answer.json()["error"])

    def fault(self, kind: str, *, times: int = 1, **match: str) -> None:
        """Order trouble."""
        order = {"match": match, "times": times, "fault": kind}
        assert self.http.post("/_emulator/faults", json=order).status_code == 200

    def state(self) -> dict[str, list[dict[str, Any]]]:
        """Return the world."""
        return self.http.get("/_emulator/state").json()

    def issue(self, number: int) -> dict[str, Any]:
        """Return one issue of the world."""
        return next(entry for entry in self.state()["issues"] if entry["number"] == number)

    def pull(self, number: int) -> dict[str, Any]:
        """Return one pull request of the world."""
        return next(entry for entry in self.state()["pulls"] if entry["number"] == number)

    def card(self, number: int) -> dict[str, Any] | None:
        """Return the card of an issue, if it is on the board."""
        return next((entry for entry in self.state()["items"] if entry["issue"] == number), None)

    def requests(self) -> list[dict[str, Any]]:
        """Return the journal."""
        return self.http.get("/_emulator/requests").json()

    def opened_pull(self, branch: str = "work", **more: Any) -> int:
        """Push a commit to a branch, open a pull request for it, and return its number."""
        fields = {"path": "work.txt", "content": f"{branch}\n"} | more.pop("commit", {})
        self.act("push_commit", branch=branch, **fields)
        body = {"title": f"Work on {branch}", "head": branch, "base": "main"} | more
        return self.post(f"{REPO}/pulls", body).raise_for_status().json()["number"]


@pytest.fixture
def server():
    with running() as started:
        yield started


@pytest.fixture
def client(server: Running):
    import httpx

    with httpx.Client(base_url=server.url, verify=NO_CERTIFICATES, timeout=20) as http:
        yield Client(http)


@pytest.fixture
def team():
    """Return a client in front of a local GitHub with an organisation's two repositories."""
    import httpx

    with running("team") as started, httpx.Client(base_url=started.url, verify=NO_CERTIFICATES, timeout=20) as http:
        yield Client(http)


@dataclass
class Clone:
    """A working clone, driven by real git."""

    path: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run git in the clone and return how it ended."""
        who = ["-c", "user.name=Dev", "-c", "user.email=dev@example.org"]
        return subprocess.run(
            ["git", *who, *arguments], cwd=self.path, capture_output=True, text=True, check=False, timeout=60
        )

    def git(self, *arguments: str) -> str:
        """Run git in the clone, which must work, and return what it printed."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, message: str = "Change", *, path: str = "file.txt", content: str = "x\n") -> str:
        """Commit one file and return the SHA."""
        (self.path / path).write_text(content)
        self.git("add", path)
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def clone(server: Running, tmp_path: Path) -> Clone:
    made = Clone(tmp_path)
    made.git("clone", "--quiet", f"{server.url}/octo/demo.git", "clone")
    return Clone(tmp_path / "clone")
