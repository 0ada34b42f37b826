"""The branch of a task as the last session left it: fetched, moved forward, and looked at for work that is there."""

from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import WrongState
from agent_sync.gateway.transport.remotes import base_branch
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.fence import refuse_shared_push
from agent_sync.leases.model import Tip
from agent_sync.leases.refs.values import Where
from agent_sync.leases.rules import is_at_work
from agent_sync.system import git_branches
from agent_sync.system.git import NETWORK_LIMIT
from agent_sync.system.git_history import (
    commit_of,
    commits_between,
    files_committed_since,
    has_commits_beyond,
    is_ancestor,
    merge_base,
)
from agent_sync.task.decision.outside_text import quoted
from agent_sync.work.hook.model import WorkHook

_SUBJECTS_SHOWN = 5


@dataclass(frozen=True)
class BranchWork:
    """What a branch has that its base does not: how many commits and files, and the newest commits' first lines."""

    name: str = ""
    commits: int = 0
    files: int = 0
    subjects: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """One sentence, the newest commit first; empty for a branch without commits of its own."""
        if not self.commits:
            return ""
        counted = f"{_counted(self.commits, 'commit')} ({_counted(self.files, 'file')})"
        first = ", the newest first" if self.commits > 1 else ""
        shown, more = (
            ", ".join(quoted(subject, limit=80) for subject in self.subjects),
            self.commits - len(self.subjects),
        )
        return f"The branch already has {counted}{first}: {shown}{f', and {more} more' if more > 0 else ''}."


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def work_branch(context: Context, hook: WorkHook, *, attempted: str) -> str:
    """Return the branch the work is on; stop where another is checked out, which would be pushed in its place."""
    claim = context.store.read()
    is_claimed = claim is not None and claim.issue_number == hook.status.issue
    branch, current = (claim.branch if claim and is_claimed else "") or hook.status.branch, context.git.current_branch()
    if current != branch:
        message = f"HEAD is on {f'branch {current}' if current else 'no branch'}, the work's branch is {branch}."
        raise WrongState(message, attempted=attempted, helps=f"git switch {branch}")
    refuse_shared_push(context, branch)
    return branch


def fetch_work(context: Context, branch: str, *, limit_s: float = NETWORK_LIMIT) -> str:
    """Fetch a branch and the base it is compared with; return why that failed, if it did."""
    remotes, base = context.remotes, base_branch(context)
    bases = (base,) if base else ()
    trouble = git_branches.fetch_heads(
        context.git, remotes.push, *(bases if remotes.is_same else ()), f"{branch}*", limit_s=limit_s
    )
    if bases and not remotes.is_same:
        trouble = trouble or git_branches.fetch_heads(context.git, remotes.base, *bases, limit_s=limit_s)
    return trouble


def work_on(context: Context, branch: str) -> BranchWork:
    """Return what a branch has of its own, here or on the remote as it was last fetched, whichever is further."""
    git, base = context.git, _base_ref(context)
    here, there = git.head_of(branch), git.remote_head_of(context.remotes.push, branch)
    head = there if there and (here is None or is_ancestor(git, here, there)) else here
    distance = git_branches.distance(git, head, base) if head else None
    if head is None or distance is None or not distance.ahead:
        return BranchWork(branch)
    newest = commits_between(git, base, head, most=_SUBJECTS_SHOWN)
    files = files_committed_since(git, merge_base(git, base, head) or "", head)
    return BranchWork(branch, distance.ahead, len(files), tuple(commit.subject for commit in reversed(newest)))


def is_branch_at_work(context: Context, tip: Tip, now: datetime) -> bool:
    """Tell whether the branch of a claim, as it was last fetched, shows that its holder is at work."""
    git, branch, allowance_s = context.git, tip.lease.branch, context.settings.lease.allowance_s
    here = git.head_of(branch) if branch and tip.where is Where.CLONE else None
    there = git.remote_head_of(context.remotes.push, branch) if branch else None
    moments = [git_branches.committed_at(git, head) for head in {here, there} if head]
    return any(is_at_work(moment, tip.lease, now, allowance_s) for moment in moments)


def last_shared(context: Context, branch: str) -> str:
    """Return the newest commit below HEAD that the remote of the claims is known to have; "" where none is known."""
    remote = context.remotes.base
    for name in filter(None, (branch, base_branch(context))):
        if found := git_branches.last_common(context.git, f"refs/remotes/{remote}/{name}"):
            return found
    return ""


def has_own_commits(context: Context, branch: str) -> bool:
    """Tell whether a branch holds work that its base does not have."""
    head = context.git.head_of(branch) or commit_of(context.git, f"refs/remotes/{context.remotes.push}/{branch}")
    return head is not None and has_commits_beyond(context.git, head, _base_ref(context))


def _base_ref(context: Context) -> str:
    """Return what own commits are counted from; HEAD where this clone knows no base."""
    remote = context.remotes.base
    names = filter(None, (base_branch(context), context.git.default_branch(remote)))
    found = (f"refs/remotes/{remote}/{name}" for name in names if context.git.remote_head_of(remote, name))
    return next(found, "HEAD")
