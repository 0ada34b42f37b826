"""Reads hooks, claims and whole histories from refs, with a few processes however many there are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agent_sync.errors import BadHook, GitFailed, HookTooNew
from agent_sync.leases.model import Tip
from agent_sync.leases.refs.blobs import Blob, read_blobs
from agent_sync.leases.refs.objects import tips_below
from agent_sync.leases.results import Unreadable
from agent_sync.system import files as plain_files
from agent_sync.system.git import NETWORK_LIMIT, Git, seconds_of
from agent_sync.task.decision.outside_text import quoted
from agent_sync.work.hook.layout import (
    ATTEMPTS,
    CONTEXT,
    HANDOFF,
    INPUT_HASH,
    OUTPUT_HASH,
    RESULT,
    STATUS,
    TASK,
    Files,
    hook_of,
    stray_hashes,
)
from agent_sync.work.hook.names import HOOKS, WorkerName, worker_above, worker_of_ref
from agent_sync.work.hook.shelf import OURS, Shelf
from agent_sync.work.hook.sight import HookSeen, Sight
from agent_sync.work.hook.wording import writable
from agent_sync.work.ledger import Entry

PATHS = (STATUS, TASK, CONTEXT, RESULT, HANDOFF, ATTEMPTS, INPUT_HASH, OUTPUT_HASH)
_FIELD = "\x1f"


@dataclass(frozen=True)
class HookRef:
    """One ref below `hooks/`: whose it is, where it is at, and why no work can hang there."""

    name: WorkerName
    sha: str
    trouble: str = ""


def look(shelf: Shelf, *, issue: int | None = None, limit_s: float = NETWORK_LIMIT) -> Sight:
    """Return all hooks, and one claim or all, as they are now; the last fetched view where nothing can be fetched."""
    trouble = shelf.update(issue, limit_s=limit_s)
    below = f"{shelf.prefix}claims/{issue or ''}"
    claims = {_issue(tip): tip for tip in tips_below(shelf.git, below, shelf.where)}
    return Sight(shelf.where, hooks_seen(shelf), claims, trouble, shelf.allowance_s)


def hooks_seen(shelf: Shelf) -> dict[WorkerName, HookSeen]:
    """Return all hooks as this clone knows them; one that cannot be read says why, and keeps nobody from the others."""
    refs = hook_refs(shelf)
    read = zip(refs, files_at(shelf.git, [ref.sha for ref in refs]), strict=True)
    return {ref.name: _blocked(ref) if ref.trouble else _seen(ref.name, ref.sha, files) for ref, files in read}


def hook_refs(shelf: Shelf) -> tuple[HookRef, ...]:
    """Return every ref of a worker, one each."""
    below = f"{shelf.prefix}hooks/"
    form = "--format=%(refname) %(objecttype) %(objectname)"
    # Not by lines: a ref's name may hold what Unicode calls the end of one.
    lines = (line.rsplit(" ", 2) for line in _asked(shelf.git, "for-each-ref", form, below).split("\n")[:-1])
    found = (_hook_ref(ref.replace(below, HOOKS, 1), kind, sha) for ref, kind, sha in lines)
    return tuple({ref.name: ref for ref in found if ref}.values())


def _hook_ref(ref: str, kind: str, sha: str) -> HookRef | None:
    if above := worker_above(ref):
        who = "a person who may write to the repository must remove it"
        return HookRef(above, sha, f"The ref {quoted(ref)} is in the way of the hook of {above}: {who}.")
    name = worker_of_ref(ref)
    if name is None:
        return None
    return HookRef(name, sha, "" if kind == "commit" else f"The hook of {name} is a {kind}, not a commit.")


def history(shelf: Shelf) -> tuple[Entry, ...]:
    """Return every commit of every hook, oldest first in each."""
    refs = [ref for ref in hook_refs(shelf) if not ref.trouble]
    if not refs:
        return ()
    known = dict(_commits(shelf.git, [ref.sha for ref in refs]))
    chains = [(ref.name, sha) for ref in refs for sha in reversed(list(_chain(ref.sha, known)))]
    files = files_at(shelf.git, [sha for _, sha in chains])
    return tuple(
        Entry(name, sha, known[sha][1], known[sha][2], _seen(name, sha, found).hook)
        for (name, sha), found in zip(chains, files, strict=True)
    )


def files_at(git: Git, commits: Sequence[str]) -> list[Files]:
    """Return the files of a hook at each of the commits."""
    found = read_blobs(git, [f"{sha}:{path}" for sha in commits for path in PATHS], largest=plain_files.LARGEST)
    read = iter(found)
    return [
        {path: content for path, content in zip(PATHS, _next(read), strict=True) if content is not None}
        for _ in commits
    ]


def ref_here(shelf: Shelf, ref: str) -> str:
    """Return what a ref of ours was at when it was last seen; empty where there is none."""
    return shelf.git.ask("rev-parse", "--verify", "--quiet", ref.replace(OURS, shelf.prefix, 1)).stdout.strip()


def _next(found: Iterator[Blob]) -> list[Blob]:
    return [next(found) for _ in PATHS]


def _blocked(ref: HookRef) -> HookSeen:
    return HookSeen(ref.name, ref.sha, None, ref.trouble, is_blocked=True)


def _seen(name: WorkerName, sha: str, files: Files) -> HookSeen:
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
    # Parted by the one character that no message can hold.
    for record in _asked(git, "log", "-z", f"--format=%H{_FIELD}%P{_FIELD}%ct{_FIELD}%B", *tips).split("\0"):
        if record:
            sha, parents, at, message = record.split(_FIELD, 3)
            moment = datetime.fromtimestamp(seconds_of(at), UTC).isoformat()
            yield sha, (parents.split(" ")[0], moment, writable(message.strip()))


def _asked(git: Git, *arguments: str) -> str:
    done = git.ask(*arguments)
    if done.status:
        raise GitFailed(f"git said: {' '.join(done.stderr.split())[:300]}", attempted="reading work hooks")
    return done.stdout
