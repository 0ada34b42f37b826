"""Finds the commits and pushes that happened since the last look, in reflogs and, where those fail, in the refs.

A push to a bare address (`git push <url>`) leaves nothing behind in the clone, so nothing is found of it.
"""

from dataclasses import dataclass
from pathlib import Path

from agent_sync.record.machine.checkpoint import KEPT, known_keys
from agent_sync.record.machine.model import Record, Seen
from agent_sync.record.machine.states import Trigger
from agent_sync.record.observe.commits import Commit, commits_beyond, commits_made
from agent_sync.record.observe.pushes import Push, pushes_since
from agent_sync.record.observe.reflogs import Entry, end_of, portion_of, sha_of, without_log
from agent_sync.system.git import Git
from agent_sync.worktree import Place

HEAD = "HEAD"


@dataclass(frozen=True)
class Observation:
    """What happened, oldest first, and how far every reflog has been read by now."""

    commits: tuple[Commit, ...]
    pushes: tuple[Push, ...]
    reflogs: dict[str, Seen]


@dataclass(frozen=True)
class _Walk:
    """How one ref has moved: by its log, and from where on the log does not tell."""

    entries: tuple[Entry, ...]
    seen: Seen
    # The commit after which only the commits themselves can be asked; None where the log tells everything.
    gap_after: str | None = None
    # Whether that commit lies before what the log tells, and not behind it.
    is_gap_first: bool = False


def observed(record: Record, git: Git, place: Place) -> Observation:
    """Return what happened since the record was last reconciled; the first look only takes note of where things are."""
    branch = record.branch or git.current_branch() or ""
    head = git.ask("rev-parse", "--verify", "--quiet", HEAD).stdout.strip()
    refs = _refs(git, branch)
    local = {HEAD: head} | {ref: sha for ref, sha in refs.items() if ref.startswith("refs/heads/")}
    if branch:
        local.setdefault(f"refs/heads/{branch}", "")
    tracking = {ref: sha for ref, sha in refs.items() if ref not in local}
    if not record.reflogs:
        return Observation((), (), {ref: _now(place, ref, sha) for ref, sha in (local | tracking).items()})
    walks = {ref: _walk(record, place, ref, sha) for ref, sha in local.items()}
    commits = _commits(record, git, walks, local)
    made = _made(record) | {commit.sha for commit in commits}
    pushes, seen = pushes_since(record, place, tracking, made=made, heads=frozenset(local.values()))
    return Observation(commits, pushes, {ref: walk.seen for ref, walk in walks.items()} | seen)


def log_of(place: Place, ref: str) -> Path:
    """Return where the log of a ref is kept: HEAD's belongs to the worktree, all others to the clone."""
    return Path(place.git_dir if ref == HEAD else place.common_dir, "logs", ref)


def _refs(git: Git, branch: str) -> dict[str, str]:
    """Return the branch and what the remotes have of it."""
    if not branch:
        return {}
    patterns = (f"refs/heads/{branch}", f"refs/remotes/*/{branch}")
    lines = git.ask("for-each-ref", "--format=%(objectname) %(refname)", *patterns).stdout.splitlines()
    found = {ref: sha for sha, _, ref in (line.partition(" ") for line in lines)}
    return {ref: sha for ref, sha in found.items() if ref.endswith(f"/{branch}")}


def _now(place: Place, ref: str, sha: str) -> Seen:
    end = end_of(log_of(place, ref))
    return end.seen(sha) if end else without_log(sha)


def _walk(record: Record, place: Place, ref: str, sha: str) -> _Walk:
    seen = record.reflogs.get(ref)
    if seen is None:
        # Another branch than before: what HEAD did there is in HEAD's own log, the rest is not this task's.
        return _Walk((), _now(place, ref, sha))
    last = sha_of(seen)
    portion = portion_of(log_of(place, ref), seen)
    if portion is None:
        return _Walk((), without_log(sha), gap_after=last if last != sha else None)
    if not portion.is_continuous:
        entries = tuple(entry for entry in portion.entries if entry.time >= _since(record))
        return _Walk(entries, portion.seen(sha), gap_after=last, is_gap_first=True)
    told = portion.entries[-1].new if portion.entries else last
    return _Walk(portion.entries, portion.seen(sha), gap_after=told if told != sha else None)


def _commits(record: Record, git: Git, walks: dict[str, _Walk], local: dict[str, str]) -> tuple[Commit, ...]:
    """Return the commits that are new; of very many the last ones, since no more would be kept."""
    known = _made(record)
    entries = tuple(entry for walk in walks.values() for entry in walk.entries if entry.new not in known)
    earlier: list[Commit] = []
    later: list[Commit] = []
    for ref, walk in walks.items():
        beyond = commits_beyond(git, walk.gap_after, local[ref], since=_since(record))
        (earlier if walk.is_gap_first else later).extend(beyond)
    found = {commit.sha: commit for commit in (*earlier, *commits_made(git, entries), *later)}
    return tuple(commit for commit in found.values() if commit.sha not in known)[-KEPT:]


def _made(record: Record) -> frozenset[str]:
    """Return the commits that are known to have been made during the task."""
    prefix = f"{Trigger.COMMIT}:"
    return frozenset(key.removeprefix(prefix) for key in known_keys(record) if key.startswith(prefix))


def _since(record: Record) -> int:
    return int(record.created_at.timestamp())
