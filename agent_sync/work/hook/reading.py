"""Reads hooks, claims and whole histories from refs, with a few processes however many there are."""

from collections.abc import Iterator, Mapping, Sequence

from agent_sync.context import Context
from agent_sync.errors import BadHook, HookTooNew
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import claim_ref, known_claims, transport_here
from agent_sync.leases.model import Tip
from agent_sync.leases.refs.values import CLAIMS, HOOKS, Blob, FileAt, PastCommit, RefTransport
from agent_sync.leases.results import Unreadable
from agent_sync.system import files as plain_files
from agent_sync.system.git import NETWORK_LIMIT
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
from agent_sync.work.hook.names import WorkerName, worker_above, worker_of_ref
from agent_sync.work.hook.view import HookCommit, HookSeen, WorkView
from agent_sync.work.hook.wording import writable

PATHS = (STATUS, TASK, CONTEXT, RESULT, HANDOFF, ATTEMPTS, INPUT_HASH, OUTPUT_HASH)


@dataclass(frozen=True)
class HookRef:
    """One ref below `hooks/`: whose it is, where it is at, and why no work can hang there."""

    name: WorkerName
    sha: str
    trouble: str = ""


def view_here(context: Context, *, limit_s: float = NETWORK_LIMIT) -> WorkView:
    """Return all hooks and claims as they are now."""
    return look(transport_here(context, limit_s=limit_s), context.settings.lease.allowance_s)


def look(transport: RefTransport, allowance_s: float, *, issue: int | None = None) -> WorkView:
    """Return all hooks, and one claim or all, as they are now; the last fetched view where nothing can be fetched."""
    claim = claim_ref(issue) if issue else CLAIMS
    trouble = transport.fetch([HOOKS, claim])
    claims = {_issue(one): one for one in known_claims(transport, claim)}
    return WorkView(transport.where, known_hooks(transport), claims, trouble, allowance_s)


def known_hooks(transport: RefTransport) -> dict[WorkerName, HookSeen]:
    """Return all hooks as this clone knows them; one that cannot be read says why, and keeps nobody from the others."""
    refs = _hook_refs(transport)
    read = zip(refs, _files_at(transport, [ref.sha for ref in refs]), strict=True)
    return {ref.name: _unusable(ref) if ref.trouble else _hook_at(ref.name, ref.sha, files) for ref, files in read}


def _hook_refs(transport: RefTransport) -> tuple[HookRef, ...]:
    """Return every ref of a worker, one each."""
    found = (_hook_ref(ref.name, ref.kind, ref.sha) for ref in transport.known(HOOKS, with_kinds=True))
    return tuple({ref.name: ref for ref in found if ref}.values())


def _hook_ref(ref: str, kind: str, sha: str) -> HookRef | None:
    if above := worker_above(ref):
        who = "a person who may write to the repository must remove it"
        return HookRef(above, sha, f"The ref {quoted(ref)} is in the way of the hook of {above}: {who}.")
    name = worker_of_ref(ref)
    if name is None:
        return None
    return HookRef(name, sha, "" if kind == "commit" else f"The hook of {name} is a {kind}, not a commit.")


def history(transport: RefTransport) -> tuple[HookCommit, ...]:
    """Return every commit of every hook that this clone knows, oldest first in each."""
    refs = [ref for ref in _hook_refs(transport) if not ref.trouble]
    if not refs:
        return ()
    known = transport.history([ref.sha for ref in refs])
    chains = [(ref.name, sha) for ref in refs for sha in reversed(list(_chain(ref.sha, known)))]
    files = _files_at(transport, [sha for _, sha in chains])
    return tuple(
        HookCommit(name, sha, known[sha].at.isoformat(), writable(known[sha].message), _hook_at(name, sha, found).hook)
        for (name, sha), found in zip(chains, files, strict=True)
    )


def _files_at(transport: RefTransport, commits: Sequence[str]) -> list[Files]:
    """Return the files of a hook at each of the commits."""
    wanted = [FileAt(sha, path) for sha in commits for path in PATHS]
    read = iter(transport.read(wanted, largest=plain_files.LARGEST))
    return [
        {path: content for path, content in zip(PATHS, _next(read), strict=True) if content is not None}
        for _ in commits
    ]


def _next(found: Iterator[Blob]) -> list[Blob]:
    return [next(found) for _ in PATHS]


def _unusable(ref: HookRef) -> HookSeen:
    return HookSeen(ref.name, ref.sha, None, ref.trouble, is_blocked=True)


def _hook_at(name: WorkerName, sha: str, files: Files) -> HookSeen:
    try:
        hook = hook_of(files, name=str(name))
    except HookTooNew as error:
        return HookSeen(name, sha, None, error.happened, is_too_new=True)
    except BadHook as error:
        return HookSeen(name, sha, None, error.happened)
    return HookSeen(name, sha, hook, stray=stray_hashes(files, hook))


def _issue(tip: Tip | Unreadable) -> int:
    return tip.issue if isinstance(tip, Unreadable) else tip.lease.issue


def _chain(tip: str, known: Mapping[str, PastCommit]) -> Iterator[str]:
    sha = tip
    while sha in known:
        yield sha
        sha = known[sha].parent
