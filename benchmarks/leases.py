"""Prints what a claim costs among 10,000 claims over one among ten, and how long a list of all of them takes."""

import json
import os
import statistics
import subprocess
import tempfile
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

from agent_sync.emulator.server import Running, running
from agent_sync.leases import rules
from agent_sync.leases.claim_refs import transport_at
from agent_sync.leases.identity import fresh_id, holder_here
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import Holder
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import LeaseRequest, Listing, Won
from agent_sync.system.git import Git
from agent_sync.system.processes import Processes
from agent_sync.worktree import worktree

FEW, MANY = 10, 10_000
ROUNDS = int(os.environ.get("ROUNDS", "60")) // 6
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def git(root: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run git."""
    done = subprocess.run(["git", *arguments], cwd=root, input=stdin, check=True, capture_output=True)
    return done.stdout.decode()


class Field:
    """A local GitHub with some claims, and a clone of it."""

    def __init__(self, server: Running, directory: Path, claims: int) -> None:
        self.url = server.url
        self.bare = server.world.repository("octo", "demo").git.path
        git(self.bare, "fast-import", "--quiet", stdin=b"".join(_claim(issue) for issue in range(1, claims + 1)))
        git(self.bare, "pack-refs", "--all")
        git(directory, "clone", "-q", f"{server.url}/octo/demo.git", "clone")
        place = worktree(str(directory / "clone"))
        assert place  # noqa: S101  # made a line above
        transport = transport_at(Where.REMOTE, Git(place.root, Processes(), dict(os.environ)), "origin")
        self.keeper = LeaseKeeper(transport, place)
        self.request = LeaseRequest(holder_here(place), NOW, 3600.0)
        self.issue = MANY

    def claim(self) -> float:
        """Claim an issue that nobody has, and return how long it took."""
        self.issue += 1
        began = time.perf_counter()
        outcome = self.keeper.acquire(self.issue, self.request)
        assert isinstance(outcome, Won), outcome  # noqa: S101  # a benchmark of a failure would look good
        return time.perf_counter() - began

    def cost(self) -> str:
        """Claim once more, and return the requests and new objects at the server."""
        self._journal("DELETE")
        before = self._objects()
        self.claim()
        asked = self._journal("GET")
        return f"{len(asked)} requests, {self._objects() - before} objects"

    def listed(self, claims: int) -> float:
        """List all claims, and return how long it took."""
        began = time.perf_counter()
        listing = self.keeper.list()
        assert isinstance(listing, Listing), listing  # noqa: S101
        assert len(listing.tips) >= claims, len(listing.tips)  # noqa: S101
        return time.perf_counter() - began

    def _objects(self) -> int:
        return int(git(self.bare, "count-objects").split(" ")[0])

    def _journal(self, method: str) -> list[object]:
        address = f"{self.url}/_emulator/requests?git=1"
        with urllib.request.urlopen(urllib.request.Request(address, method=method)) as answer:  # noqa: S310
            return list(json.loads(answer.read()))


def _claim(issue: int) -> bytes:
    """Return one claim as git's fast-import reads it."""
    holder = Holder(host="bench", user="bench", worktree=f"w{issue}")
    content = rules.acquired_lease(
        issue, LeaseRequest(holder, NOW, 3600.0, branch=f"b{issue}"), fresh_id(), None
    ).to_json()
    head = f"commit refs/agentsync/claims/{issue}\ncommitter b <b@example.invalid> 0 +0000\ndata 1\nx\n"
    return head.encode() + f"M 100644 inline claim.json\ndata {len(content)}\n".encode() + content + b"\n"


def main() -> None:
    """Print the table."""
    os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    with tempfile.TemporaryDirectory(prefix="agent-sync-bench-") as name, running("empty") as a, running("empty") as b:
        os.environ["HOME"] = name
        few, many = (Path(name) / word for word in ("few", "many"))
        few.mkdir()
        many.mkdir()
        small, large = Field(a, few, FEW), Field(b, many, MANY)
        times = [(small.claim(), large.claim()) for _ in range(ROUNDS)]
        least, most = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"claim among {FEW}                      {small.cost()}")
        print(f"claim among {MANY}                   {large.cost()}")
        print(f"claim among {MANY}, over among {FEW}  {most / least:5.2f}")
        cold, warm = large.listed(MANY), min(large.listed(MANY) for _ in range(3))
        print(f"list of {MANY}, first and then       {cold:5.2f} s {warm:5.2f} s")


main()
