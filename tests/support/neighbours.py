"""Several worktrees of one clone with a claim each, as a session or several of them hold them."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from support.sessions import Client
from support.stage import Theatre

SESSION = "1f0c7a52-2f5e-4f0e-9d0f-3a1b2c3d4e5f"
INSIDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}


def new_issues(theatre: Theatre, count: int) -> list[int]:
    """Open issues and return their numbers."""
    before = {issue["number"] for issue in theatre.stage.world()["issues"]}
    for number in range(count):
        theatre.stage.act("add_issue", title=f"Task {number}", status="Todo")
    return sorted({issue["number"] for issue in theatre.stage.world()["issues"]} - before)


def claimed(theatre: Theatre, client: Client, *issues: int) -> list[Theatre]:
    """Claim issues in worktrees of their own, from within a client's session; return what acts there."""
    inside = theatre.stage.environment | INSIDE | {"CLAUDE_CODE_SESSION_ID": client.session_id}
    for issue in issues:
        played = replace(theatre.stage, environment=inside).command("claim", str(issue), "--worktree")
        assert played.status == 0, played.stderr
    # With the end of its turn the session is known to be at work on them.
    assert client.hook("on-stop").status == 0
    roots = [theatre.stage.root.parent / f"{theatre.stage.root.name}-{issue}" for issue in issues]
    return [Theatre(replace(theatre.stage, root=root, environment=inside)) for root in roots]


def state_of(worktree: Theatre) -> Path:
    """Return where a worktree keeps its own files."""
    return Path(worktree.git("rev-parse", "--absolute-git-dir")) / "agentsync"


def age(worktree: Theatre, minutes: float = 30) -> None:
    """Make the lease of a worktree look as if it was renewed so long ago."""
    claim = worktree.stage.claim()
    assert claim
    lease = claim["lease"] | {"renewed_at": _earlier(minutes)}
    for path in (worktree.stage.root / ".agent-claim.json", state_of(worktree) / "claim.base.json"):
        path.write_text(json.dumps(claim | {"lease": lease}))


def _earlier(minutes: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60 * minutes))


def lease_shas(worktrees: list[Theatre]) -> list[str]:
    """Return which claim commit each worktree has noted."""
    return [(worktree.stage.claim() or {})["lease"]["sha"] for worktree in worktrees]


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for what a process in the background does."""
    give_up = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < give_up, "it has not happened"
        time.sleep(0.1)
