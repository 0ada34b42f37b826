"""Reads hooks, claims and whole histories from refs, with a few processes however many there are."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from agent_sync.errors import BadHook, GitFailed, HookTooNew
from agent_sync.git import NETWORK_LIMIT, Git
from agent_sync.leases.model import Tip
from agent_sync.leases.objects import answers, tips_below
from agent_sync.leases.results import Unreadable
from agent_sync.workers.layout import (
    ATTEMPTS,
    CONTEXT,
    HANDOFF,
    INPUT_HASH,
    OUTPUT_HASH,
    RESULT,
    STATUS,
    TASK,
    hook_of,
    stray_hashes,
)
from agent_sync.workers.ledger import Entry
from agent_sync.workers.names import HOOKS, WorkerName, worker_of_ref
from agent_sync.workers.shelf import OURS, Shelf
from agent_sync.workers.sight import HookSeen, Sight

PATHS = (STATUS, TASK, CONTEXT, RESULT, HANDOFF, ATTEMPTS, INPUT_HASH, OUTPUT_HASH)
_RECORD, _FIELD = "\x1e", "\x1f"


def look(shelf: Shelf, *, issue: int | None = None, limit_s: float = NETWORK_LIMIT) -> Sight:
    """Return all hooks, and one claim or all, as they are now; the last fetched view where nothing can be fetched."""
    trouble = shelf.update(issue, limit_s=limit_s)
    below = f"{shelf.prefix}claims/{issue or ''}"
    claims = {_issue(tip): tip for tip in tips_below(shelf.git, below, shelf.where)}
    return Sight(shelf.where, hooks_seen(shelf), claims, trouble, shelf.allowance_s)


def hooks_seen(shelf: Shelf) -> dict[WorkerName, HookSeen]:
    """Return all hooks as this clone knows them."""
    tips = hook_tips(shelf)
    read = zip(tips, files_at(shelf.git, list(tips.values())), strict=True)
    return {name: _seen(name, tips[name], files) for name, files in read}


def hook_tips(shelf: Shelf) -> dict[WorkerName, str]:
    """Return every hook ref's commit."""
    below = f"{shelf.prefix}hooks/"
    listed = _asked(shelf.git, "for-each-ref", "--format=%(refname) %(objectname)", below)
    pairs = (line.split(" ") for line in listed.splitlines())
    named = {worker_of_ref(ref.replace(below, HOOKS, 1)): sha for ref, sha in pairs}
    return {name: sha for name, sha in named.items() if name is not None}


def history(shelf: Shelf) -> tuple[Entry, ...]:
    """Return every commit of every hook, oldest first in each."""
    tips = hook_tips(shelf)
    if not tips:
        return ()
    known = dict(_commits(shelf.git, list(tips.values())))
    chains = [(name, sha) for name, tip in tips.items() for sha in reversed(list(_chain(tip, known)))]
    files = files_at(shelf.git, [sha for _, sha in chains])
    return tuple(
        Entry(name, sha, known[sha][1], known[sha][2], _seen(name, sha, found).hook)
        for (name, sha), found in zip(chains, files, strict=True)
    )


def files_at(git: Git, commits: Sequence[str]) -> list[dict[str, bytes]]:
    """Return the files of a hook at each of the commits."""
    if not commits:
        return []
    found = answers(git.contents([f"{sha}:{path}" for sha in commits for path in PATHS]))
    return [
        {path: content for path, content in zip(PATHS, _next(found), strict=True) if content is not None}
        for _ in commits
    ]


def ref_here(shelf: Shelf, ref: str) -> str:
    """Return what a ref of ours was at when it was last seen; empty where there is none."""
    return shelf.git.ask("rev-parse", "--verify", "--quiet", ref.replace(OURS, shelf.prefix, 1)).stdout.strip()


def _next(found: Iterator[bytes | None]) -> list[bytes | None]:
    return [next(found) for _ in PATHS]


def _seen(name: WorkerName, sha: str, files: dict[str, bytes]) -> HookSeen:
    try:
        hook = hook_of(files, name=str(name))
    except HookTooNew as error:
        return HookSeen(name, sha, None, error.happened, is_too_new=True)
    except BadHook as error:
        return HookSeen(name, sha, None, error.happened)
    return HookSeen(name, sha, hook, stray=stray_hashes(files, hook))


def _issue(tip: Tip | Unreadable) -> int:
    return tip.issue if isinstance(tip, Unreadable) else tip.lease.issue


def _chain(tip: str, known: dict[str, tuple[str, str, str]]) -> Iterator[str]:
    sha = tip
    while sha in known:
        yield sha
        sha = known[sha][0]


def _commits(git: Git, tips: list[str]) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Map every commit to its parent, time and message."""
    form = f"--format={_RECORD}%H{_FIELD}%P{_FIELD}%ct{_FIELD}%B"
    for record in _asked(git, "log", form, *tips).split(_RECORD)[1:]:
        sha, parents, at, message = record.split(_FIELD, 3)
        moment = datetime.fromtimestamp(int(at), UTC).isoformat()
        yield sha, (parents.split(" ")[0], moment, message.strip())


def _asked(git: Git, *arguments: str) -> str:
    done = git.ask(*arguments)
    if done.status:
        raise GitFailed(f"git said: {' '.join(done.stderr.split())[:300]}", attempted="reading work hooks")
    return done.stdout
