"""One push and one fetch of claim refs, and what git's own machine-readable answer says of them."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from agent_sync.errors import GitFailed
from agent_sync.system.git import NETWORK_LIMIT, Git, refuse_odd_branch
from agent_sync.system.masking import masked
from agent_sync.system.processes import Finished

CLAIMS = "refs/agentsync/claims/"
PROBES = "refs/agentsync/probe/"
TRACKING = "refs/agentsync/tracking/"
# Two processes of one clone that fetch at once get in each other's way; the later one just asks again.
FETCHES = 4
_COLLIDED = 1
_DIED = 128
_MOVED = frozenset("*+ -")
_REFUSED = "!"


class Verdict(StrEnum):
    """What is known of a change of refs before anything is read."""

    LANDED = "landed"
    REJECTED = "rejected"
    SILENT = "silent"
    BRANCH_REFUSED = "branch-refused"


@dataclass(frozen=True)
class RefUpdate:
    """One ref from `old` (empty: must not exist) to `new` (empty: deleted)."""

    ref: str
    old: str
    new: str


@dataclass(frozen=True)
class Pushed:
    """How a push ended; the text is git's, for people only."""

    verdict: Verdict
    text: str = ""
    # Whether anything may have been sent: a remote that git cannot even ask for its refs gets nothing.
    was_sent: bool = True


def push(
    git: Git,
    address: str,
    updates: Sequence[RefUpdate],
    branch: tuple[str, str] | None = None,
    *,
    limit_s: float = NETWORK_LIMIT,
) -> Pushed:
    """Move all refs, and a branch forward, in one push: either all of them move or none."""
    leases = [f"--force-with-lease={update.ref}:{update.old}" for update in updates]
    specs = [f"{update.new}:{update.ref}" for update in updates]
    # The user's own pre-push hook watches over code; a lease alone is none of its business.
    own = [] if branch else ["--no-verify", "--no-follow-tags", "--recurse-submodules=no"]
    if branch:
        refuse_odd_branch(branch[0])
        specs.append(f"{branch[1]}:refs/heads/{branch[0]}")
    options = ["--atomic", "--porcelain", "--no-signed", *own, *leases]
    refs = {update.ref for update in updates}
    with tempfile.TemporaryDirectory(prefix="agent-sync-") as directory:
        packets = Path(directory) / "packets"
        traced = {"GIT_TRACE_PACKET": str(packets)}
        try:
            done = git.ask("push", *options, "--", address, *specs, variables=traced, timeout=limit_s)
        except GitFailed as error:
            return Pushed(Verdict.SILENT, str(error))
        # Git dies of a connection in the same way before and after it has asked for the change.
        was_sent = done.status != _DIED or _is_sent(packets, refs)
    return Pushed(_verdict(done, refs), said(done), was_sent=was_sent)


def _is_sent(packets: Path, refs: set[str]) -> bool:
    """Tell from what git has written to the wire whether it asked for a change of any of the refs."""
    if not packets.exists():
        return False
    sent = (line.partition("> ")[2] for line in packets.read_text(errors="replace").splitlines())
    return any(ref in line for line in sent for ref in refs)


def fetch(  # noqa: PLR0913  # from where, what, to where, and how long
    git: Git, address: str, *, below: str, tracking: str, issue: int | None = None, limit_s: float = NETWORK_LIMIT
) -> str | None:
    """Bring the refs below a prefix, or one issue's, up to date under `tracking`; return what went wrong, if so."""
    return fetch_refs(git, address, refspecs(below, tracking, issue), limit_s=limit_s)


def fetch_refs(git: Git, address: str, specs: Sequence[str], *, limit_s: float = NETWORK_LIMIT) -> str | None:
    """Bring refs of several kinds up to date in one fetch; return what went wrong, if so."""
    options = ["--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-filter"]
    command = ["fetch", *options, "--no-recurse-submodules", "--", address, *specs]
    try:
        done = _fetched(git, command, limit_s, FETCHES)
    except GitFailed as error:
        return str(error)
    return (said(done) or f"git fetch ended with {done.status}") if done.status else None


def _fetched(git: Git, command: list[str], limit_s: float, left: int) -> Finished:
    # Claims share no history with the code, and little with each other: telling what is here costs more than it saves.
    options = ["-c", "core.filesRefLockTimeout=5000", "-c", "fetch.negotiationAlgorithm=noop"]
    done = git.ask(*options, *command, timeout=limit_s)
    return _fetched(git, command, limit_s, left - 1) if done.status == _COLLIDED and left > 1 else done


def said(done: Finished) -> str:
    """Return what git said, in one line without secrets."""
    lines = [line for line in done.stdout.splitlines() if line.startswith(_REFUSED)]
    return masked(" ".join(" ".join([*lines, done.stderr]).split()))[:300]


def refspecs(below: str, tracking: str, issue: int | None = None) -> list[str]:
    """Return what to fetch to have the refs below a prefix, or one issue's, under `tracking`."""
    if issue is None:
        return [f"+{below}*:{tracking}*"]
    # A plain name would make a missing ref an error like any other; a pattern makes it an empty answer.
    longer = [f"^{below}{issue}{digit}*" for digit in range(10)]
    return [f"+{below}{issue}*:{tracking}{issue}*", *longer]


def _verdict(done: Finished, refs: set[str]) -> Verdict:
    """Read git's table; "up to date" says that nothing was done and therefore never counts."""
    flags = {}
    for line in done.stdout.splitlines():
        parts = line.split("\t")
        if len(parts) > 1:
            flags[parts[1].rpartition(":")[2]] = parts[0]
    found = {flags.get(ref, "") for ref in refs}
    if done.status == 0 and found <= _MOVED:
        return Verdict.LANDED
    # Over HTTP git may name only the one ref for which it gave all of them up.
    return Verdict.REJECTED if _REFUSED in flags.values() else Verdict.SILENT
