"""Brings finished work to where others can get it, before anything says that it is done."""

from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import Refused
from agent_sync.leases.refs.values import BranchHead
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.outside_text import quoted
from agent_sync.work.branches import has_own_commits, work_branch
from agent_sync.work.claims import WORKING, HeldWork, held_work, renewal_change
from agent_sync.work.hook.orders import Order, carry_out
from agent_sync.work.hook.view import WorkView

GIVING = "giving a result"
_FILES_NAMED = 5


def deliver(context: Context, name: str, claim: Claim | None, *, but: str = "") -> None:
    """Push the work's branch with its claim; refuse what is not committed, `but` the file the result is read from."""

    def decide(view: WorkView, now: datetime) -> Order[None]:
        held = held_work(context, view, name, attempted=GIVING)
        _refuse_pull(held, claim)
        branch = work_branch(context, held.hook, attempted=GIVING)
        _refuse_uncommitted(context, but)
        head = context.git.head_of(branch)
        if head is None or not _is_unpublished(context, branch):
            return Order(None)
        return Order(None, (renewal_change(held.tip, now, phase=WORKING),), BranchHead(branch, head))

    carry_out(context, decide)


def _is_unpublished(context: Context, branch: str) -> bool:
    """Tell whether the branch may hold what no other has: always, where the remote's default branch is not known."""
    remote = context.settings.git.remote
    is_base_known = bool(context.git.default_branch(remote))
    return has_own_commits(context, branch) if is_base_known else context.git.remote(remote) is not None


def _refuse_pull(held: HeldWork, claim: Claim | None) -> None:
    """Stop where a pull request carries the work: that ends with its merge, and by itself."""
    issue = held.tip.lease.issue
    pull = claim.pr_number if claim and claim.issue_number == issue else held.tip.lease.pr
    if pull:
        message = f"PR #{pull} carries this work: the hook is complete by itself once it is merged and closed."
        raise Refused(message, attempted=GIVING, helps="agent-sync status")


def _refuse_uncommitted(context: Context, but: str) -> None:
    changed = [path for path in context.git.changes() if path != but]
    if changed:
        named = ", ".join(quoted(path) for path in changed[:_FILES_NAMED]) + (
            " …" if len(changed) > _FILES_NAMED else ""
        )
        message = f"The tree is not clean, so the result would name a commit that lacks part of the work: {named}."
        raise Refused(message, attempted=GIVING, helps="git add and git commit, then the same command")
