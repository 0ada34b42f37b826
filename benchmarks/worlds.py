"""Local GitHubs with clones of them in which one thing is large: board, claim refs, record, files or claims."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from agent_sync.demo.stage import Stage, cloned
from agent_sync.emulator.server import Running, running
from agent_sync.leases import rules
from agent_sync.leases.identity import fresh_id
from agent_sync.leases.model import Holder, LeaseState
from agent_sync.leases.results import LeaseRequest
from agent_sync.record.disk.store import RecordStore
from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import RecordMove
from benchmarks.turns import AGENT_SYNC, run, seconds

# A free issue of the small world, and how many cards it has.
ISSUE, CARDS = 42, 5
# Issues that the local GitHub does not have, so that none of those that are claimed here is among them.
FIRST_REF = 1_000_000
STRIDE, PER_FOLDER = 100, 500


@dataclass
class World:
    """A clone, in which commands are run and timed; `requests` are those of the last one that was timed, git's too."""

    stage: Stage
    server: Running
    commits: int = 0
    requests: int = 0

    def do(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run a command of agent-sync that must succeed."""
        command = [AGENT_SYNC, *arguments]
        return run(*command, cwd=cwd or self.stage.root, environment=self.stage.environment, stdin="{}")

    def git(self, *arguments: str, cwd: Path | None = None, stdin: str = "") -> str:
        """Run git."""
        return run("git", *arguments, cwd=cwd or self.stage.root, environment=self.stage.environment, stdin=stdin)

    def seconds(self, *arguments: str) -> float:
        """Time a command, and count its requests."""
        self.stage.control("DELETE", "requests")
        took = seconds([AGENT_SYNC, *arguments], self.stage.root, self.stage.environment)
        self.requests = len(self.stage.control("GET", "requests?git=1"))
        return took

    def commit(self) -> None:
        """Commit something, as the agent would."""
        self.commits += 1
        self.stage.commit("work.txt", f"{self.commits}\n", "Work")

    def issue(self) -> str:
        """Open an issue that is ready, and return its number."""
        added = self.stage.control("POST", "act", {"act": "add_issue", "title": "Work", "status": "Todo"})
        return str(added["number"])


@contextmanager
def world(directory: Path) -> Iterator[World]:
    """Serve the small world and clone it."""
    directory.mkdir()
    with running("small") as server:
        yield World(cloned(server.url, directory), server)


def with_cards(made: World, size: int) -> None:
    """Grow the board."""
    made.stage.act("grow_board", items=size - CARDS)


def with_claim_refs(made: World, size: int) -> None:
    """Leave the refs of so many claims that have ended, as they are until somebody cleans up."""
    bare = made.server.world.repository("octo", "demo").git.path
    made.git("fast-import", "--quiet", cwd=bare, stdin="".join(_ended(FIRST_REF + number) for number in range(size)))
    made.git("pack-refs", "--all", cwd=bare)


def with_events(made: World, size: int) -> None:
    """Claim, and make the recovery record so long."""
    made.do("claim", str(ISSUE))
    home = Path(made.stage.environment["HOME"])
    store = RecordStore(next(home.glob(".atlas/workspaces/*/tasks/*/hook.json")).parent)
    for grown in range(0, size, STRIDE):
        store.update(partial(_noted, min(STRIDE, size - grown)), datetime.now(UTC))


def with_files(made: World, size: int) -> None:
    """Commit so many files, and claim."""
    for number in range(size):
        folder = made.stage.root / f"part{number // PER_FOLDER}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number}.py").write_text(f"x = {number}\n", encoding="utf-8")
    for arguments in (["add", "-A"], ["commit", "-qm", "Files"], ["push", "-q", "origin", "main"]):
        made.git(*arguments)
    made.do("claim", str(ISSUE))


def with_claims(made: World, size: int) -> None:
    """Claim so many issues, each in a worktree of its own."""
    for _ in range(size):
        made.do("claim", made.issue(), "--worktree")


def _noted(events: int, record: Record) -> Record:
    for number in range(events):
        record = with_move(record, RecordMove.CHECKPOINT, datetime.now(UTC), description=f"Looked at part {number}")
    return record


def _ended(issue: int) -> str:
    """Return one claim as git's fast-import reads it."""
    request = LeaseRequest(
        Holder(host="bench", user="bench", worktree=f"w{issue}"), datetime.now(UTC), 3600.0, branch=f"b{issue}"
    )
    lease = rules.acquired_lease(issue, request, fresh_id(), None).model_copy(update={"state": LeaseState.DONE})
    content = lease.to_json().decode()
    head = (
        f"commit refs/agentsync/claims/{issue}\ncommitter b <b@example.invalid> {int(time.time())} +0000\ndata 1\nx\n"
    )
    return f"{head}M 100644 inline claim.json\ndata {len(content.encode())}\n{content}\n"
