"""Reads hooks, claims and whole histories from refs, with a few processes however many there are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agent_sync.context import Context
from agent_sync.errors import BadHook, HookTooNew
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import claim_ref, known_refs, read_claims, transport_here
from agent_sync.leases.ended import list_claims
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
from agent_sync.work.hook.model import HookResult
from agent_sync.work.hook.names import WorkerName, worker_above, worker_of_ref
from agent_sync.work.hook.view import HookCommit, HookSeen, WorkView
from agent_sync.work.hook.wording import writable

# Far more than the steps of any worker's tasks in a year; what lies before is left out, and said to be.
MOST_COMMITS = 1000
# The claims of more hooks than these are fetched with all others: git compares every name with every ref.
MOST_BY_NAME = 50
PATHS = (STATUS, TASK, CONTEXT, RESULT, HANDOFF, ATTEMPTS, INPUT_HASH, OUTPUT_HASH)


@dataclass(frozen=True)
class HookRef:
    """One ref below `hooks/`: whose it is, where it is at, and why no work can hang there."""

    name: WorkerName
    sha: str
    trouble: str = ""


def view_here(context: Context, *, limit_s: float = NETWORK_LIMIT, all_claims: bool = False) -> WorkView:
    """Return all hooks and their claims as they are now; a result that was changed after it was given says so."""
    transport = transport_here(context, limit_s=limit_s)
    view = look_at_all(context, transport) if all_claims else look(transport, context.settings.lease.allowance_s)
    given = {name: seen for name, seen in view.hooks.items() if seen.hook and seen.hook.result}
    if not given:
        return view
    changed = changed_results(history(transport, only=frozenset(given)))
    marked = {name: replace(seen, stray=(*seen.stray, *changed.get(name, ()))) for name, seen in given.items()}
    return replace(view, hooks={**view.hooks, **marked})


def changed_results(commits: Sequence[HookCommit]) -> dict[WorkerName, tuple[str, ...]]:
    """Say of each worker whose last result is not what was given first, in which commit it was changed."""
    first: dict[tuple[WorkerName, str], HookResult] = {}
    found: dict[WorkerName, tuple[str, ...]] = {}
    for entry in commits:
        result = entry.hook.result if entry.hook else None
        if result is None:
            found.pop(entry.worker, None)
            continue
        given = first.setdefault((entry.worker, f"{result.task_id} {result.evidence.timestamp}"), result)
        if given != result:
            found.setdefault(entry.worker, (f"{RESULT} was changed after it was given, in commit {entry.sha[:12]}",))
    return found


def look(transport: RefTransport, allowance_s: float, *, issue: int | None = None) -> WorkView:
    """Return all hooks, and one claim or those of the hooks, as they are now; as last fetched where nothing can be.

    Hooks and claims change together, so one fetch brings both. Work that has come since the last look makes another.
    """
    asked = frozenset({issue}) if issue else _issues_of(known_hooks(transport))
    trouble = transport.fetch(_names(asked))
    hooks = known_hooks(transport)
    while not (trouble or issue or _issues_of(hooks) <= asked):
        asked |= _issues_of(hooks)
        trouble = transport.fetch(_names(asked))
        hooks = known_hooks(transport)
    return WorkView(transport.where, hooks, _claims_of(transport, asked), trouble, allowance_s)


def look_at_all(context: Context, transport: RefTransport) -> WorkView:
    """Return all hooks and all claims as they are now; of claims that have ended, those of hooks in full."""
    trouble = transport.fetch([HOOKS, CLAIMS])
    hooks, found = known_hooks(transport), list_claims(transport, context.place)
    claims: dict[int, Tip | Unreadable] = {tip.lease.issue: tip for tip in found.tips}
    claims |= {one.issue: one for one in found.unreadable}
    claims |= _claims_of(transport, _issues_of(hooks) - claims.keys())
    return WorkView(transport.where, hooks, claims, trouble, context.settings.lease.allowance_s, found.ended)


def _names(issues: frozenset[int]) -> list[str]:
    return [HOOKS, *(map(claim_ref, sorted(issues)) if len(issues) <= MOST_BY_NAME else [CLAIMS])]


def _issues_of(hooks: Mapping[WorkerName, HookSeen]) -> frozenset[int]:
    issues = (seen.hook.status.issue for seen in hooks.values() if seen.hook)
    return frozenset(issue for issue in issues if issue)


def _claims_of(transport: RefTransport, issues: frozenset[int]) -> dict[int, Tip | Unreadable]:
    """Return the claims of some issues as this clone knows them."""
    refs = [ref for issue in sorted(issues) for ref in known_refs(transport, claim_ref(issue))]
    return {_issue(one): one for one in read_claims(transport, refs)}


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


def history(transport: RefTransport, *, only: frozenset[WorkerName] | None = None) -> tuple[HookCommit, ...]:
    """Return the last commits of every hook that this clone knows, or of some, oldest first in each."""
    refs = [ref for ref in _hook_refs(transport) if not ref.trouble and (only is None or ref.name in only)]
    if not refs:
        return ()
    known = transport.history([ref.sha for ref in refs], most=MOST_COMMITS)
    chains = [(ref.name, sha) for ref in refs for sha in reversed(list(_chain(ref.sha, known)))]
    files = _files_at(transport, [sha for _, sha in chains])
    return tuple(_past(name, sha, known[sha], found) for (name, sha), found in zip(chains, files, strict=True))


def _past(name: WorkerName, sha: str, commit: PastCommit, files: Files) -> HookCommit:
    seen = _hook_at(name, sha, files)
    # A commit whose parent was not read is the first of those that were.
    return HookCommit(name, sha, commit.at.isoformat(), writable(commit.message), seen.hook, seen.stray, commit.parent)


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
    for _ in range(MOST_COMMITS):
        if sha not in known:
            return
        yield sha
        sha = known[sha].parent
