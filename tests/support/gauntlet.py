"""Projects with gates to test with: real repositories, real programs."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from support.github import FakeGitHub
from support.stage import Theatre

from agent_sync import settings
from agent_sync.context import Context
from agent_sync.gates.plan.repo import Repo
from agent_sync.worktree import worktree

GATE_CONFIG = "base_branch: origin/main\nlog_dir: gauntlet_logs\nentry_points:\n  - path: .\n    checks: [lint]\n"
GATE_CHECK = "command: test ! -e BROKEN\n"
ONE_CHECK = "entry_points:\n  - path: src\n    checks: [ok]\n"


def write_files(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below `root`, with the directories they need."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def add_gate(theatre: Theatre) -> None:
    """Give a clone of the local GitHub one gate on its main branch: it fails while a file BROKEN is there."""
    gate = {".gauntlet/config.yml": GATE_CONFIG, ".gauntlet/checks/lint.yml": GATE_CHECK}
    write_files(theatre.stage.root, gate | {".gitignore": "gauntlet_logs\n.agent-claim.json*\n"})
    theatre.git("add", "-A")
    theatre.git("commit", "-q", "-m", "Add a gate")
    theatre.git("push", "-q", "origin", "main")


class GatedProject:
    """A repository whose base is `main` and whose work is on the branch `work`."""

    def __init__(self, root: Path, config: str = ONE_CHECK, **checks: str) -> None:
        self.root = root
        lines = f"base_branch: main\n{config}"
        gates = {f".gauntlet/checks/{name}.yml": text for name, text in checks.items()}
        self.write({".gauntlet/config.yml": lines, ".gitignore": "ignored\n", "README": "x\n"} | gates)
        self.commit("Add gates")
        self.git("checkout", "-q", "-b", "work")

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files below the root."""
        write_files(self.root, files)

    def git(self, *arguments: str) -> str:
        """Run git as a person would."""
        done = subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, message: str = "Work") -> str:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def context(self, **variables: str) -> Context:
        """Sit down, as a new process would."""
        place = worktree(str(self.root))
        assert place
        environment = dict(os.environ) | variables
        for name in ("CI", "GITHUB_ACTIONS"):
            if name not in variables:
                environment.pop(name, None)
        return Context(place, settings.load(place, environment).settings, environment, lambda _: FakeGitHub())

    def repo(self, **variables: str) -> Repo:
        """Ask git as the gate does."""
        context = self.context(**variables)
        return Repo(context.git, context.place, self.root)

    @property
    def logs(self) -> list[str]:
        """The names of all files in the log directory."""
        directory = self.root / "gauntlet_logs"
        return sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []
