"""The stage: a temporary home and clone, the local GitHub, and the people and programs that act on it."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from agent_sync.errors import BadInput, WrongState

# One gate: nothing unfinished in the code.
GATE = {
    ".gauntlet/config.yml": "base_branch: origin/main\nentry_points:\n  - path: .\n    checks: [finished]\n",
    ".gauntlet/checks/finished.yml": "command: '! grep -n UNFINISHED *.py'\n",
}
_PERSON = {"NAME": "Demo", "EMAIL": "demo@example.invalid"}


@dataclass(frozen=True)
class Played:
    """One command as it was played: what it was given, what it answered, and what it cost."""

    command: str
    status: int
    stdout: str
    stderr: str
    ms: int
    requests: int


@dataclass(frozen=True)
class Stage:
    """Where the demo plays; nothing outside of it is touched."""

    url: str
    root: Path
    environment: dict[str, str]

    def hook(self, *arguments: str, event: str) -> Played:
        """Play a hook command with an input recorded from Claude Code, moved to this clone."""
        recorded = resources.files("agent_sync.demo").joinpath("inputs", f"{event}.json").read_text(encoding="utf-8")
        return self.command(*arguments, stdin=json.dumps(json.loads(recorded) | {"cwd": str(self.root)}))

    def command(self, *arguments: str, stdin: str = "") -> Played:
        """Play a command of agent-sync as a process of its own."""
        self.control("DELETE", "requests")
        began = time.perf_counter()
        status, stdout, stderr = self.run(*arguments, stdin=stdin)
        took = round((time.perf_counter() - began) * 1000)
        asked = len(self.control("GET", "requests"))
        return Played(" ".join(arguments), status, stdout.strip(), stderr.strip(), took, asked)

    def run(self, *arguments: str, stdin: str) -> tuple[int, str, str]:
        """Run a command to its end; return its exit status and what it printed."""
        command = [sys.executable, "-m", "agent_sync", *arguments]
        done = subprocess.run(
            command, cwd=self.root, env=self.environment, input=stdin, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout, done.stderr

    def commit(self, name: str, text: str, message: str) -> None:
        """Write a file and commit it, as the agent would."""
        (self.root / name).write_text(text, encoding="utf-8")
        for arguments in (["add", name], ["commit", "--quiet", "--message", message]):
            subprocess.run(["git", *arguments], cwd=self.root, env=self.environment, check=True)

    def act(self, act: str, **fields: object) -> None:
        """Do something on the local GitHub that people or CI would do."""
        answer = self.control("POST", "act", {"act": act, **fields})
        if not answer.get("ok"):
            raise BadInput(f"The local GitHub refused {act}: {answer.get('error')}.")

    def world(self) -> dict[str, Any]:
        """Return everything there is on the local GitHub."""
        return dict(self.control("GET", "state"))

    def claim(self) -> dict[str, Any] | None:
        """Return the claim file's values, if it is there."""
        file = self.root / ".agent-claim.json"
        return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None

    def control(self, method: str, path: str, body: object = None) -> Any:
        """Ask the control interface of the local GitHub; return its JSON answer, an empty object for none."""
        content = None if body is None else json.dumps(body).encode()
        # The address is the loopback server started below.
        request = urllib.request.Request(f"{self.url}/_emulator/{path}", content, method=method)  # noqa: S310
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            text = answer.read()
        return json.loads(text) if text else {}


@contextlib.contextmanager
def stage(*, with_gate: bool = False) -> Iterator[Stage]:
    """Set the stage, with a quality gate if wanted, and take it down again."""
    try:
        from agent_sync.emulator.server import running
    except ImportError as error:
        missing = "The demo needs the local GitHub, whose packages are not installed."
        raise WrongState(missing, helps="pipx run --spec 'agent-sync-github[emulator]' agent-sync demo") from error
    directory = Path(tempfile.mkdtemp(prefix="agent-sync-demo-"))
    try:
        with running("small") as server:
            scenery = cloned(server.url, directory)
            if with_gate:
                add_gate(scenery)
            yield scenery
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def cloned(url: str, directory: Path) -> Stage:
    """Clone the repository of a local GitHub, with a home beside it."""
    home, root = directory / "home", directory / "demo"
    home.mkdir(exist_ok=True)
    environment = environment_of(url, home)
    subprocess.run(["git", "clone", "--quiet", f"{url}/octo/demo.git", str(root)], env=environment, check=True)
    (root / ".git" / "info" / "exclude").write_text(".agent-claim.json*\ngauntlet_logs\n", encoding="utf-8")
    return Stage(url, root, environment)


def add_gate(scenery: Stage) -> None:
    """Put the gate on the default branch."""
    for name, text in GATE.items():
        (scenery.root / name).parent.mkdir(parents=True, exist_ok=True)
        scenery.commit(name, text, f"Add {name}")
    push = ["git", "push", "--quiet", "origin", "main"]
    subprocess.run(push, cwd=scenery.root, env=scenery.environment, check=True)


def environment_of(url: str, home: Path) -> dict[str, str]:
    """Keep what programs need to start; nothing of the person who watches."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TERM", "TMPDIR") if name in os.environ}
    people = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _PERSON.items()}
    own = {
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "AGENT_SYNC_GITHUB_URL": url,
        "AGENT_SYNC_PROJECT_NUMBER": "1",
        "AGENT_SYNC_CHECKS_BACKOFF_S": "0",
    }
    return kept | people | own
