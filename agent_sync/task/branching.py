"""Which branch a claim works on: a new one from the base as it is on the server now, or one that is continued."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from agent_sync.clients import agent_here
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, Conflict, GitFailed, Refused, WrongState
from agent_sync.gates.pull import refuse_committed_claim
from agent_sync.gateway.transport.remotes import refuse_shared_branch
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import clock, git_branches
from agent_sync.system.git_history import is_ancestor, own_commits
from agent_sync.system.git_tree import fast_forward, move_branch
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.claimable import branch_name
from agent_sync.task.decision.tasks import Task
from agent_sync.worktree import Place, worktree

# More than any issue was ever begun anew.
MOST_SUFFIXES = 1000


@dataclass(frozen=True)
class BranchPlan:
    """The branch of a claim: its name, what it begins at, and what a person should know about that.

    Without a start the branch exists and is continued; `is_restart` makes one begin anew that has no commits.
    """

    name: str
    start: str | None
    notes: tuple[str, ...] = ()
    is_restart: bool = False


def base_of(context: Context, task: Task) -> str:
    """Return the branch that the work is to be merged into."""
    return context.settings.pr.base or task.default_branch


def usual_name(context: Context, task: Task) -> str:
    """Return what the settings call the branch of a task."""
    return branch_name(task.title, task.number, context.settings.git.branch)


@dataclass(frozen=True)
class NamedBranch:
    """A branch that a claim or a work hook names, which others may push; `since` is when that work began."""

    name: str
    since: datetime
    # What frees the issue from a ref that names a branch no task may have.
    helps: str


def refuse_named_branch(context: Context, task: Task, named: NamedBranch, agrees: Callable[[str], bool]) -> None:
    """Stop where a ref names a branch that is not the task's own; a person may agree, but not to the default or base.

    A branch is the task's own by the settings' pattern for this issue, or by commits that were all made since.
    """
    branch, attempted = named.name, f"claiming issue #{task.number}"
    refuse_shared_branch(context, branch, default=task.default_branch, attempted=attempted, helps=named.helps)
    pattern = re.escape(context.settings.git.branch).replace(r"\{slug\}", "[a-z0-9-]+")
    usual = pattern.replace(r"\{issue\}", str(task.number)) + "(-[0-9]+)?"
    if not branch or re.fullmatch(usual, branch) or not _is_foreign(context, task, named):
        return
    found = f'Branch "{branch}" is on {context.remotes.push} already and not named after issue #{task.number}'
    if agent_here(context.environment) or not agrees(f"{found}. Work on it?"):
        message = f"{found}, though a claim or a work hook says that its work is there."
        raise Refused(message, attempted=attempted, helps="a person in a terminal may add --yes")


def _is_foreign(context: Context, task: Task, named: NamedBranch) -> bool:
    """Tell whether a branch is on the remote, and not all of its commits were made since the task was begun."""
    git, remotes = context.git, context.remotes
    there = git_branches.fetch_branch(git, remotes.push, named.name)
    if there is None:
        return False
    own = own_commits(git, f"refs/remotes/{remotes.base}/{base_of(context, task)}", there)
    first = git_branches.committed_at(git, own[0][0]) if own else None
    # Commits are dated in whole seconds.
    return first is None or first < int(named.since.timestamp())


def new_branch(context: Context, task: Task, wanted: str, *, fetches: bool = True) -> BranchPlan:
    """Return the branch for a new claim; one of the same name that has work of its own is used only if asked for."""
    name, base = wanted or usual_name(context, task), base_of(context, task)
    refuse_shared_branch(
        context,
        name,
        default=task.default_branch,
        attempted=f"claiming issue #{task.number}",
        helps="name another branch" if wanted else "correct git.branch in the settings",
    )
    remote = context.remotes.base
    trouble = fetch_start(context, base, name) if fetches and base else ""
    notes = (f"the work starts from {base} as this clone has it: {remote} could not be asked ({trouble})",)
    plan = _plan(context, name, base, is_asked_for=bool(wanted))
    return replace(plan, notes=(*(notes if trouble else ()), *plan.notes))


def fetch_start(context: Context, base: str, branch: str) -> str:
    """Bring a base and the branches whose names begin with another's up to date; return why it failed, if it did."""
    remotes = context.remotes
    trouble = git_branches.fetch_heads(context.git, remotes.base, base, *((f"{branch}*",) if remotes.is_same else ()))
    if not remotes.is_same:
        git_branches.name_head(context.git, remotes.base, base)
        trouble = trouble or git_branches.fetch_heads(context.git, remotes.push, f"{branch}*")
    return trouble


def branch_that_goes_on(context: Context, task: Task, name: str) -> BranchPlan:
    """Return the branch of work that is continued, wherever it is."""
    return BranchPlan(name, _start_of(context, name, base_of(context, task)))


def link_branch(context: Context, task: Task, plan: BranchPlan, claim: Claim) -> None:
    """Create the branch on GitHub, linked to its issue, where the settings want that; a refusal is no trouble."""
    is_shared = claim.lease is not None and claim.lease.where == "remote"
    sha = context.git.head_of(plan.name)
    if not (context.settings.git.link_branch and is_shared and sha) or context.remotes.fork:
        return
    try:
        is_linked = context.gateway.link_branch(task, plan.name, sha)
        context.log.write(clock.now(), "link-branch", issue=task.number, branch=plan.name, linked=is_linked)
    except AgentSyncError as error:
        context.log.write(clock.now(), "link-branch", issue=task.number, branch=plan.name, refused=error.happened)


def _plan(context: Context, name: str, base: str, *, is_asked_for: bool) -> BranchPlan:
    git, remote = context.git, context.remotes.base
    found = tuple(filter(None, (git.head_of(name), git.remote_head_of(context.remotes.push, name))))
    start = _start_of(context, name, base)
    if not found:
        return BranchPlan(name, start)
    tracking = f"refs/remotes/{remote}/{base}"
    if not git.remote_head_of(remote, base):
        return BranchPlan(name, start, (f"branch {name} exists and is continued",))
    distances = [git_branches.distance(git, head, tracking) for head in found]
    furthest = max((one for one in distances if one), key=lambda one: (one.ahead, one.behind), default=None)
    if is_asked_for:
        note = f"branch {name} is continued ({furthest} of {remote}/{base})"
        return BranchPlan(name, start, (note,) if furthest and furthest.behind else ())
    elsewhere = git_branches.worktree_of(git, name) not in {"", context.place.root}
    if furthest and furthest.ahead == 0 and not elsewhere:
        note = f"branch {name} had no commits of its own and was {furthest.behind} behind: it starts again"
        return BranchPlan(name, tracking, (note,) if furthest.behind else (), is_restart=True)
    free = _free_name(context, name)
    note = (
        f"branch {name} is from earlier ({furthest} of {remote}/{base}) and was not used: {free} starts from "
        f"{remote}/{base}. To continue it: agent-sync release, then agent-sync claim ISSUE --branch {name}"
    )
    return BranchPlan(free, tracking, (note,))


def _start_of(context: Context, name: str, base: str) -> str | None:
    remotes = context.remotes
    return git_branches.start_of(
        context.git, name, f"refs/remotes/{remotes.push}/{name}", f"refs/remotes/{remotes.base}/{base}"
    )


def _free_name(context: Context, name: str) -> str:
    """Return the first name with a number that neither this clone nor the remote has."""
    git, remote = context.git, context.remotes.push
    names = (f"{name}-{number}" for number in range(2, MOST_SUFFIXES))
    return next(one for one in names if not (git.head_of(one) or git.remote_head_of(remote, one)))


def new_root(context: Context, issue: int) -> str:
    """Return where the worktree of an issue is made: beside the clone, under a name that is free."""
    place = context.place
    clone = Path(place.common_dir)
    beside = clone.parent if clone.name == ".git" else Path(place.root)
    usual = f"{beside.name}-{issue}"
    names = (usual, *(f"{usual}-{number}" for number in range(2, MOST_SUFFIXES)))
    known = git_branches.worktrees(context.git)
    roots = (str(beside.parent / name) for name in names)
    return next(root for root in roots if not os.path.lexists(root) and (root not in known or _forget(context, root)))


def _forget(context: Context, root: str) -> bool:
    """Let git forget a worktree whose directory is gone; tell whether it has."""
    return not git_branches.forget_worktree(context.git, root)


def free_branch(context: Context, branch: str, root: str) -> None:
    """Stop where a branch is checked out in another worktree; one whose directory is gone is forgotten."""
    elsewhere = git_branches.worktree_of(context.git, branch)
    if elsewhere in {"", root}:
        return
    if os.path.lexists(elsewhere):
        raise Conflict(f"Branch {branch} is checked out in {elsewhere}.", helps=f"cd {elsewhere}")
    trouble = git_branches.forget_worktree(context.git, elsewhere)
    if trouble:
        message = f"Branch {branch} is checked out in {elsewhere}, which is gone, and git keeps it: {trouble}"
        raise GitFailed(message, helps=f"git worktree unlock {elsewhere}, then the same command")


def make_branch(context: Context, plan: BranchPlan, task: Task, root: str) -> Place:
    """Make or check out the branch of a plan in the worktree at `root`, which is made where it is not there."""
    refuse_carrier(context, plan, task)
    found = worktree(root)
    place = found if found and found.root == root else None
    at = context if place is None else context.at(place)
    if plan.is_restart and plan.start:
        _restart(at, plan.name, plan.start, is_elsewhere=place is None)
    start = None if plan.is_restart else plan.start
    if plan.start is None:
        free_branch(context, plan.name, root)
    try:
        if place:
            git_branches.check_out(at.git, plan.name, start)
            return place
        git_branches.add_worktree(context.git, root, plan.name, start)
    except GitFailed as error:
        if git_branches.is_taken(error.happened):
            # Another command made it a moment ago.
            raise Conflict(error.happened, attempted=error.attempted, helps="run the same command again") from error
        raise
    place = worktree(root)
    if place is None or place.root != root:
        raise WrongState(f"{root} is not a worktree.", attempted="making a worktree for the task")
    return place


def bring_up_to_date(context: Context, branch: str) -> str:
    """Move the local branch forward to the fetched one; return what is in the way, if they went apart."""
    remote = context.remotes.push
    tracked = f"refs/remotes/{remote}/{branch}"
    there, here = context.git.commit_at(tracked), context.git.head_of(branch)
    if not there or not here or there == here or is_ancestor(context.git, there, here):
        return ""
    if not is_ancestor(context.git, here, there):
        compared = f"git log --oneline --left-right {branch}...{remote}/{branch}"
        return f"branch {branch} here and on {remote} have diverged; the one here is used. Compare them: {compared}"
    if context.git.current_branch() == branch:
        is_moved = fast_forward(context.git, tracked)
    else:
        is_moved = move_branch(context.git, branch, to=there, old=here)
    return "" if is_moved else f"branch {branch} here is behind {remote} and could not be moved forward"


def _restart(context: Context, branch: str, start: str, *, is_elsewhere: bool) -> None:
    """Let a branch without commits of its own begin anew; where it is checked out, the files come along."""
    trouble = git_branches.restart(context.git, branch, start, is_elsewhere=is_elsewhere)
    if trouble:
        raise GitFailed(f"git said: {trouble}", attempted=f"starting branch {branch} again")


def refuse_carrier(context: Context, plan: BranchPlan, task: Task) -> None:
    """Stop where a new branch, or the branch that is here, would bring a claim file along."""
    if plan.start == "HEAD":
        # What is checked out here is asked about when the claim is written.
        return
    is_new = plan.start is not None and not plan.start.endswith(f"/{plan.name}")
    named = base_of(context, task) if is_new else plan.name
    refuse_committed_claim(context, named, plan.start or f"refs/heads/{plan.name}")
