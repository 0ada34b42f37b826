"""Machines that share work hooks: clones of one bare repository, and the issues they work on, kept in memory."""

import os
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from support.unasked_github import UnaskedGitHub

from agent_sync import settings
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.task.decision.actions import CardChange
from agent_sync.task.decision.facts import ClosingFacts, NoCard, Pull
from agent_sync.task.decision.tasks import Convoy, Person, Task
from agent_sync.worktree import worktree

OCTO = Person("octo", "U_1")


def issue(number: int, **fields: Any) -> Task:
    """Return an open issue that nobody has."""
    plain = Task(
        OCTO, f"I_{number}", number, "Fix it", f"https://x/{number}", True, (), (), (), NoCard(""), None, "main"
    )
    return replace(plain, **fields)


@dataclass
class Issues(UnaskedGitHub):
    """GitHub, as far as work hooks ask it."""

    tasks: dict[int, Task] = field(default_factory=lambda: {number: issue(number) for number in (41, 42, 43)})
    labels: list[tuple[int, str]] = field(default_factory=list)
    comments: dict[str, str] = field(default_factory=dict)
    filed: dict[str, str] = field(default_factory=dict)
    claimed: list[int] = field(default_factory=list)
    released: list[int] = field(default_factory=list)
    failing: list[AgentSyncError] = field(default_factory=list)
    requests: int = 0

    def task(self, issue: int) -> Task:
        """Return an issue."""
        return self.tasks[issue]

    def branch_pull(self, branch: str) -> Pull | None:  # noqa: ARG002
        """Return that a branch has no pull request."""
        return None

    def claim_task(self, task: Task, change: CardChange | None, *, former: Person | None = None) -> str:  # noqa: ARG002
        """Assign."""
        self._fail()
        self.claimed.append(task.number)
        return ""

    def release_task(self, task: Task, change: CardChange | None) -> str:  # noqa: ARG002
        """Take the assignment back."""
        self._fail()
        self.released.append(task.number)
        return ""

    def closing(self, *, issue: int, pull: int | None, branch: str, marker: str) -> ClosingFacts:  # noqa: ARG002
        """Return an open issue without a pull request."""
        return ClosingFacts("I_1", self.tasks[issue].is_open, self.tasks[issue].title, False, None, NoCard(""))

    def convoy(self, issue: int) -> Convoy:
        """Return a parent with its children."""
        children = tuple((one.number, one.title, one.is_open) for one in self.tasks.values() if one.parent == issue)
        return Convoy(issue, "A convoy", is_open=True, children=children)

    def escalate(self, issue: int, *, label: str, comment: str, marker: str) -> None:
        """Label, and comment once."""
        self._fail()
        self.labels.append((issue, label))
        self.comments.setdefault(marker, comment)

    def file_issue(self, title: str, body: str, *, marker: str) -> int:
        """File an issue once."""
        self._fail()
        self.filed.setdefault(marker, f"{title}\n{body}")
        return 100 + list(self.filed).index(marker)

    def _fail(self) -> None:
        if self.failing:
            raise self.failing.pop()


def git(root: Path, *arguments: str) -> str:
    """Run git, which must work."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def fed(root: Path, content: bytes, *arguments: str) -> str:
    """Run git with something to read."""
    done = subprocess.run(["git", *arguments], cwd=root, input=content, capture_output=True, check=True)
    return done.stdout.decode().strip()


@dataclass
class Machine:
    """One clone on one machine."""

    root: Path
    issues: Issues

    def context(self, **variables: str) -> Context:
        """Sit down as a fresh process would."""
        place = worktree(str(self.root))
        assert place
        environment = dict(os.environ) | variables
        return Context(place, settings.load(place, environment).settings, environment, lambda _: self.issues)

    def git(self, *arguments: str) -> str:
        """Run git here."""
        return git(self.root, *arguments)

    def commit(self, name: str, text: str = "x") -> str:
        """Commit a file."""
        (self.root / name).write_text(text)
        self.git("add", name)
        self.git("commit", "-q", "-m", f"Add {name}")
        return self.git("rev-parse", "HEAD")


def spoil(machine: Machine, ref: str, content: bytes, name: str = "status.json") -> None:
    """Put something on a ref that cannot be read, as a child of what is there."""
    blob = fed(machine.root, content, "hash-object", "-w", "--stdin")
    tree = fed(machine.root, f"100644 blob {blob}\t{name}\n".encode(), "mktree")
    there = machine.git("ls-remote", "origin", ref).split("\t")[0]
    if there:
        machine.git("fetch", "-q", "origin", ref)
    parents = ["-p", there] if there else []
    machine.git("push", "-q", "origin", f"{machine.git('commit-tree', *parents, '-m', 'Spoil', tree)}:{ref}")


@dataclass
class Fleet:
    """A shared repository, and as many machines as wanted."""

    home: Path
    issues: Issues = field(default_factory=Issues)

    @property
    def shared(self) -> Path:
        """The bare repository everybody pushes to."""
        return self.home / "shared.git"

    def machine(self, name: str) -> Machine:
        """Clone the shared repository."""
        root = self.home / name
        git(self.home, "clone", "-q", f"file://{self.shared}", str(root))
        return Machine(root, self.issues)

    def refs(self) -> dict[str, str]:
        """Return every ref of ours on the shared repository."""
        listed = git(self.shared, "for-each-ref", "--format=%(refname) %(objectname)", "refs/agentsync", "refs/heads")
        return dict(line.split(" ") for line in listed.splitlines())

    def messages(self, worker: str = "main/w1") -> list[str]:
        """Return the history of a hook, oldest first."""
        return git(self.shared, "log", "--reverse", "--format=%s", f"refs/agentsync/hooks/{worker}").splitlines()


def fleet_in(home: Path) -> Fleet:
    """Set up a shared repository with one commit."""
    git(home, "init", "-q", "--bare", "-b", "main", "shared.git")
    git(home, "clone", "-q", f"file://{home}/shared.git", "first")
    git(home / "first", "commit", "-q", "--allow-empty", "-m", "Begin")
    git(home / "first", "push", "-q", "origin", "HEAD:main")
    return Fleet(home)
