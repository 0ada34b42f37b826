"""Tells whether the branch at hand is this clone's own work, by the first entry of its reflog and by its claim."""

from agent_sync.context import Context
from agent_sync.gates.definitions.gate_base import LOCAL, REMOTE, GateBase
from agent_sync.gates.plan.repo import Repo
from agent_sync.lazy_patterns import pattern
from agent_sync.system import git_history

_CREATED = "branch: Created from "
# Where a name ends and steps back from it begin: main~2, main^0, main@{1}.
_STEPS = pattern(r"[~^]|@\{")
# Branches that stand on one another; more is a tangle that proves nothing.
MOST_STACKED = 20


def is_own(context: Context, repo: Repo, base: GateBase) -> bool:
    """Tell whether the checked-out branch was made or claimed in this clone; a detached HEAD was not."""
    branch = repo.git.current_branch()
    if branch is None:
        return False
    if not repo.head():
        return True
    claim = context.store.last_written()
    return (claim is not None and claim.branch == branch) or _is_made_here(repo, base, branch, set())


def _is_made_here(repo: Repo, base: GateBase, branch: str, seen: set[str]) -> bool:
    if branch in seen or len(seen) >= MOST_STACKED:
        return False
    seen.add(branch)
    changes = git_history.reflog(repo.git, f"{LOCAL}{branch}")
    start, reason = (changes[-1].commit, changes[-1].reason) if changes else ("", "")
    # A cut-off history may not reach back to where the clone began; its default branch is its own all the same.
    is_default = reason.startswith("clone") and base.ref.startswith(REMOTE) and base.name.partition("/")[2] == branch
    if reason.startswith("commit") or is_default:
        return True
    if not start or reason.startswith("fetch") or _is_copy_of_another(repo, base, reason):
        return False
    return git_history.is_ancestor(repo.git, start, base.commit) or any(
        _is_made_here(repo, base, other, seen) for other in _containing(repo, start) if other != branch
    )


def _is_copy_of_another(repo: Repo, base: GateBase, reason: str) -> bool:
    """Tell whether a branch was created from a remote's branch that is not the base: what comes there is not ours."""
    name = _STEPS.split(reason.removeprefix(_CREATED))[0] if reason.startswith(_CREATED) else ""
    remotes = tuple(f"{remote}/" for remote in repo.git.remotes())
    full = f"{REMOTE}{name}" if name.startswith(remotes) else name
    if not full.startswith(REMOTE):
        return name == "FETCH_HEAD"
    return full != base.ref and not full.endswith("/HEAD")


def _containing(repo: Repo, commit: str) -> list[str]:
    return [ref.removeprefix(LOCAL) for ref in git_history.refs_containing(repo.git, commit, LOCAL)]
