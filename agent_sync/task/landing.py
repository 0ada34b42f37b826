"""Leaves the branch of a closed task: back to the base, and the branch deleted where nothing can be lost."""

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.gateway.transport.remotes import base_branch
from agent_sync.system import git_branches
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision import messages
from agent_sync.task.decision.notice import Notice


def leave_branch(context: Context, claim: Claim, landed: str) -> tuple[Notice, ...]:
    """Leave and delete the claim's branch, whose merged pull request ended at `landed`; return what to say of it."""
    head = context.git.head_of(claim.branch) if claim.branch else None
    if head is None:
        return ()
    try:
        reason = _objection(context, claim.branch, head, landed) or _return_to_base(context, claim.branch)
        reason = reason or git_branches.delete_here(context.git, claim.branch)
        if reason:
            return (messages.branch_kept(claim, reason),)
        note = _delete_there(context, claim.branch, landed)
        return (messages.branch_left(claim, base=base_branch(context), note=note),)
    except AgentSyncError as error:
        return (messages.branch_kept(claim, error.happened),)


def _objection(context: Context, branch: str, head: str, landed: str) -> str:
    """Return why the branch has to stay."""
    if not landed:
        return "no merged pull request has its commits"
    if head != landed:
        return f"it is at {head[:12]}, and the merged pull request ended at {landed[:12]}"
    if context.git.changes():
        return "there are uncommitted changes"
    elsewhere = git_branches.worktree_of(context.git, branch)
    return f"it is checked out in {elsewhere}" if elsewhere not in {"", context.place.root} else ""


def _return_to_base(context: Context, branch: str) -> str:
    """Check the base out; a linked worktree detaches, because a branch can be checked out once only."""
    if context.git.current_branch() != branch:
        return ""
    base, remote = base_branch(context), context.remotes.base
    if not base:
        return f"the default branch of {remote} is not known here"
    git_branches.try_to_fetch(context.git, remote, base)
    is_linked = context.place.git_dir != context.place.common_dir
    return git_branches.leave_for(context.git, base, remote=remote, detach=is_linked)


def _delete_there(context: Context, branch: str, landed: str) -> str:
    remote = context.remotes.push
    if not context.settings.git.delete_branch:
        return ""
    trouble = git_branches.delete_there(context.git, remote, branch, landed)
    return f" It was kept on {remote}: {trouble}." if trouble else f" It was deleted on {remote} too."
