"""Workers who share claims: clones of one bare repository, clones of the local GitHub, or worktrees of one clone."""

import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from agent_sync.context import context_at
from agent_sync.emulator.server import running
from agent_sync.gateway.port import Gateway
from agent_sync.leases.claim_refs import transport_at
from agent_sync.leases.identity import holder_here
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import LeaseProof, proof_of
from agent_sync.leases.refs.api_transport import api_of
from agent_sync.leases.refs.transports import RemoteTransport
from agent_sync.leases.refs.values import RefTransport, Where
from agent_sync.leases.results import LeaseChange, LeaseRequest, Won
from agent_sync.system.git import Git
from agent_sync.system.processes import Processes
from agent_sync.worktree import Place, worktree

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CLAIMS = "refs/agentsync/claims/"


def git(root: Path, *arguments: str, stdin: str = "") -> str:
    """Run git, which must work, and return what it printed."""
    done = subprocess.run(["git", *arguments], cwd=root, input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def gateway_at(place: Place, environment: dict[str, str]) -> Gateway:
    """Return GitHub as a fresh process in a worktree reaches it."""
    return context_at(place, environment).gateway


@dataclass
class Worker:
    """One worktree and the keeper it uses."""

    root: Path
    where: str = "remote"
    # Whether its claims go through the interface of the local GitHub, because git may push branches only.
    by_api: bool = False

    @property
    def transport(self) -> RefTransport:
        """Where its claims are kept, as a fresh process would find it."""
        found = transport_at(Where(self.where), self.git, "origin")
        if not self.by_api:
            return found
        assert isinstance(found, RemoteTransport)
        return api_of(found, partial(gateway_at, self.place, dict(os.environ)))

    @property
    def place(self) -> Place:
        """The worktree as the product finds it."""
        found = worktree(str(self.root))
        assert found
        return found

    @property
    def git(self) -> Git:
        """The product's git."""
        return Git(str(self.root), Processes(), dict(os.environ))

    @property
    def keeper(self) -> LeaseKeeper:
        """A keeper as a fresh process would make it."""
        return LeaseKeeper(self.transport, self.place)

    def request(self, at: float = 0, **fields: Any) -> LeaseRequest:
        """Return what this worker asks for, some seconds after noon."""
        values: dict[str, Any] = {"ttl_s": 3600.0, "branch": "work"} | fields
        return LeaseRequest(holder_here(self.place, agent=self.root.name), NOW + timedelta(seconds=at), **values)

    def holds(self, issue: int = 7, **fields: Any) -> LeaseProof:
        """Acquire an issue, which must work."""
        won = self.keeper.acquire(issue, self.request(**fields))
        assert isinstance(won, Won), won
        self.keeper.confirm(proof_of(won.tip.lease))
        return proof_of(won.tip.lease)

    def commit(self, text: str = "work") -> str:
        """Commit something in the worktree."""
        git(self.root, "commit", "-q", "--allow-empty", "-m", text)
        return git(self.root, "rev-parse", "HEAD")

    def intents(self) -> list[str]:
        """Return the intents that wait to be settled."""
        return sorted(path.name for path in (Path(self.place.shared_dir) / "intents").glob("*.json"))


def later(seconds: float = 60, **fields: Any) -> LeaseChange:
    """Return a change some seconds after noon."""
    return LeaseChange(NOW + timedelta(seconds=seconds), **fields)


@dataclass
class Yard:
    """What workers share: `shared` is the repository that has the claim refs."""

    kind: str
    directory: Path
    shared: Path
    address: str
    url: str = ""
    workers: dict[str, Worker] = field(default_factory=dict)

    def worker(self, name: str, *options: str) -> Worker:
        """Return a worker, who gets a clone or a worktree at the first call."""
        if name not in self.workers:
            root = self.directory / name
            if self.kind == "clone":
                git(self.shared, "worktree", "add", "-q", "--detach", str(root))
            else:
                git(self.directory, "clone", "-q", *options, self.address, str(root))
            where = "clone" if self.kind == "clone" else "remote"
            self.workers[name] = Worker(root, where, by_api=self.kind == "api")
        return self.workers[name]

    def tip(self, issue: int = 7) -> str:
        """Return the commit of a claim ref."""
        return git(self.shared, "for-each-ref", "--format=%(objectname)", f"{CLAIMS}{issue}")

    def lease(self, commit: str) -> dict[str, Any]:
        """Return the claim in a commit."""
        return dict(json.loads(git(self.shared, "show", f"{commit}:claim.json")))

    def history(self, issue: int = 7) -> list[dict[str, Any]]:
        """Return every claim in the chain of a ref, oldest first."""
        return [self.lease(sha) for sha in git(self.shared, "rev-list", "--reverse", f"{CLAIMS}{issue}").split()]

    def branch(self, name: str) -> str:
        """Return where a branch is on the remote."""
        bare = self.directory / "bare.git" if self.kind == "clone" else self.shared
        return git(bare, "for-each-ref", "--format=%(objectname)", f"refs/heads/{name}")

    def plant(self, files: dict[str, str], issue: int = 7) -> str:
        """Put a commit with these files where a claim should be."""
        blobs = {name: git(self.shared, "hash-object", "-w", "--stdin", stdin=text) for name, text in files.items()}
        lines = "".join(f"100644 blob {sha}\t{name}\n" for name, sha in blobs.items())
        commit = git(self.shared, "commit-tree", "-m", "x", git(self.shared, "mktree", stdin=lines))
        git(self.shared, "update-ref", f"{CLAIMS}{issue}", commit)
        return commit

    def control(self, method: str, path: str, body: object = None) -> Any:
        """Speak to the local GitHub's control interface."""
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/_emulator/{path}", content, method=method)  # noqa: S310
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return json.loads(answer.read() or b"{}")

    def fault(self, kind: str, *, times: int = 1, service: str = "git-receive-pack", method: str = "POST") -> None:
        """Order trouble for a git request, or for the mutation that takes its place."""
        by_git = {"path": f"/octo/demo.git/{service}", "method": method}
        match = {"operation": "UpdateRefs"} if self.kind == "api" else by_git
        self.control("POST", "faults", {"match": match, "times": times, "fault": kind})

    def requests(self) -> list[str]:
        """Return the git requests so far, and forget them."""
        entries = self.control("GET", "requests?git=1")
        self.control("DELETE", "requests")
        return [f"{entry['method']} {entry['operation']}" for entry in entries]


@contextmanager
def yard(kind: str, directory: Path) -> Iterator[Yard]:
    """Open a yard of one kind: `file`, `http`, `api` (git may push branches only there) or `clone`."""
    if kind in {"http", "api"}:
        with running("empty") as server:
            shared = server.world.repository("octo", "demo").git.path
            opened = Yard(kind, directory, shared, f"{server.url}/octo/demo.git", server.url)
            if kind == "api":
                opened.control("POST", "act", {"act": "push_only", "patterns": ["refs/heads/*"]})
            yield opened
        return
    bare = _bare(directory)
    if kind == "file":
        yield Yard(kind, directory, bare, f"file://{bare}")
        return
    git(directory, "clone", "-q", f"file://{bare}", str(directory / "hub"))
    yield Yard(kind, directory, directory / "hub", f"file://{bare}")


def _bare(directory: Path) -> Path:
    bare, start = directory / "bare.git", directory / "start"
    git(directory, "init", "-q", "--bare", "-b", "main", str(bare))
    git(bare, "config", "uploadpack.allowFilter", "true")
    git(directory, "init", "-q", "-b", "main", str(start))
    git(start, "commit", "-q", "--allow-empty", "-m", "Begin")
    git(start, "push", "-q", str(bare), "main")
    return bare
