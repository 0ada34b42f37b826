"""The branch of a task as the last session left it: fetched, moved forward, and looked at for work that is there."""

from agent_sync.context import Context
from agent_sync.errors import BadInput
from agent_sync.gateway.transport.remotes import base_branch
from agent_sync.system import git_branches
from agent_sync.system.git_history import commit_of, has_commits_beyond, is_ancestor
from agent_sync.system.git_tree import fast_forward, move_branch
from agent_sync.work.hook.model import WorkHook


def work_branch(context: Context, hook: WorkHook, *, attempted: str) -> str:
    """Return the branch the work is on; stop where another is checked out, which would be pushed in its place."""
    claim = context.store.read()
    is_claimed = claim is not None and claim.issue_number == hook.status.issue
    branch, current = (claim.branch if claim and is_claimed else "") or hook.status.branch, context.git.current_branch()
    if current != branch:
        message = f"HEAD is on {f'branch {current}' if current else 'no branch'}, the work's branch is {branch}."
        raise BadInput(message, attempted=attempted, helps=f"git switch {branch}")
    return branch


def bring_up_to_date(context: Context, branch: str) -> str:
    """Fetch a branch and move the local one forward; return what is in the way, if they went apart."""
    remote = context.remotes.push
    tracked = f"refs/remotes/{remote}/{branch}"
    git_branches.try_to_fetch(context.git, remote, branch)
    there, here = commit_of(context.git, tracked), context.git.head_of(branch)
    if not there or not here or there == here or is_ancestor(context.git, there, here):
        return ""
    if not is_ancestor(context.git, here, there):
        return f"branch {branch} here and on {remote} have diverged"
    if context.git.current_branch() == branch:
        is_moved = fast_forward(context.git, tracked)
    else:
        is_moved = move_branch(context.git, branch, to=there, old=here)
    return "" if is_moved else f"branch {branch} here is behind {remote} and could not be moved forward"


def last_shared(context: Context, branch: str) -> str:
    """Return the newest commit below HEAD that the remote of the claims is known to have; "" where none is known."""
    remote = context.remotes.base
    for name in filter(None, (branch, base_branch(context))):
        if found := git_branches.last_common(context.git, f"refs/remotes/{remote}/{name}"):
            return found
    return ""


def has_own_commits(context: Context, branch: str) -> bool:
    """Tell whether a branch holds work that the default branch does not have."""
    remotes = context.remotes
    head = context.git.head_of(branch) or commit_of(context.git, f"refs/remotes/{remotes.push}/{branch}")
    default = context.git.default_branch(remotes.base)
    base = f"refs/remotes/{remotes.base}/{default}" if default else "HEAD"
    return head is not None and has_commits_beyond(context.git, head, base)
