"""Several people's clones of one local GitHub, each with a home of its own."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from support.nursery import LATE
from support.stage import QuickStage, Theatre, clone

from agent_sync.demo.stage import Played

# A session whose leases run out in a second, which `long_ago` has passed already.
SHORT = {"CLAUDECODE": "1", "AGENT_SYNC_LEASE_TTL_S": "1", "AGENT_SYNC_LEASE_ALLOWANCE_S": "0"}
BRANCH = "claude/fix-race-condition-in-cache-42"
CLAIM_REF = "refs/agentsync/claims/42"


def with_variables(theatre: Theatre, **variables: str) -> Theatre:
    """Return the same clone with a changed environment; an empty value takes a variable out."""
    kept = {name: value for name, value in (theatre.stage.environment | variables).items() if value}
    return Theatre(replace(theatre.stage, environment=kept))


def beside(theatre: Theatre, name: str, **variables: str) -> Theatre:
    """Clone the repository once more, as another person on another machine would."""
    stage = theatre.stage
    home, root = stage.root.parent / f"home-{name}", stage.root.parent / name
    home.mkdir()
    environment = stage.environment | {"HOME": str(home)} | variables
    clone(stage.url, root, environment, stage.world()["refs"])
    (root / ".git" / "info" / "exclude").write_text(".agent-claim.json*\n", encoding="utf-8")
    return Theatre(replace(stage, root=root, environment=environment))


def git_requests(theatre: Theatre) -> list[str]:
    """Return what git has begun with the remote since the last command began: fetches and pushes."""
    entries = theatre.stage.control("GET", "requests?git=1")
    return [entry["operation"] for entry in entries if "/info/refs" in entry["path"]]


def traces(theatre: Theatre) -> tuple[Any, ...]:
    """Return what a command could have left in a clone: branches, checkout, claim file."""
    heads = theatre.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")
    return heads, theatre.git("status", "--porcelain", "--branch"), theatre.stage.claim()


def ref(theatre: Theatre, name: str = CLAIM_REF) -> str | None:
    """Return where a ref of the local GitHub is."""
    return next((one["sha"] for one in theatre.stage.world()["refs"] if one["name"] == name), None)


@contextmanager
def long_ago(theatre: Theatre, seconds: float = 2) -> Iterator[None]:
    """Let commands in the clones of a local GitHub be so late: what they do now was done so long ago.

    Commands that are interpreters of their own know the time, so the time has to pass.
    """
    if not isinstance(theatre.stage, QuickStage):
        yield
        time.sleep(seconds)
        return
    late = theatre.stage.root.parent / LATE
    late.write_text(str(seconds))
    yield
    late.unlink()


def committed_ago(theatre: Theatre, seconds: float) -> None:
    """Commit a file, as if that had been done so many seconds ago."""
    at = datetime.now(UTC) - timedelta(seconds=seconds)
    with_variables(theatre, GIT_COMMITTER_DATE=at.isoformat()).stage.commit("a.txt", "a\n", "A")


def taken_over(theatre: Theatre, name: str = "bob") -> Theatre:
    """Let somebody else take issue 42 over, whose short lease was got long ago; return their clone."""
    successor = beside(theatre, name, **dict.fromkeys(SHORT, "") | {"AGENT_SYNC_LEASE_ALLOWANCE_S": "0"})
    played = successor.stage.command("claim", "42", "--take-over")
    assert played.status == 0, played.stderr
    return successor


def told(played: Played) -> str:
    """Return everything a command said."""
    return f"{played.stdout}\n{played.stderr}"


def dies_at_push(theatre: Theatre, folder: Path, moment: str) -> Theatre:
    """Return the same clone with a git that kills its command, once, right before or right after a push."""
    mark, shim, git = folder / "kill", folder / "bin" / "git", shutil.which("git")
    shim.parent.mkdir()
    kill = f"if [ -e {mark} ]; then rm {mark}; kill -9 $PPID; fi"
    text = f'#!/bin/sh\ncase " $* " in *" push "*) ;; *) exec {git} "$@" ;; esac\n'
    text += f'{kill}\nexec {git} "$@"\n' if moment == "before" else f'{git} "$@"; status=$?\n{kill}\nexit $status\n'
    shim.write_text(text)
    shim.chmod(0o755)
    mark.touch()
    return with_variables(theatre, PATH=f"{shim.parent}:{theatre.stage.environment['PATH']}")
