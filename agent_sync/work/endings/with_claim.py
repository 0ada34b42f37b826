"""Ends the work on a hook with its claim, in one push: complete once merged and closed, given back once released."""

from collections.abc import Callable
from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import GitFailed, LeaseUnsettled
from agent_sync.leases.fence import worker_of
from agent_sync.leases.model import LeaseState, Tip
from agent_sync.leases.refs.values import Where
from agent_sync.record import keep as recording
from agent_sync.system.git_history import commit_of
from agent_sync.system.git_tree import tree_of
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import DeleteClaim
from agent_sync.work.claims import ending_change, holding_of
from agent_sync.work.hook import moves
from agent_sync.work.hook.evidence import Standpoint, evidence_of
from agent_sync.work.hook.model import HookResult, HookTask, JsonObject, ResultStatus, WorkHook
from agent_sync.work.hook.moves import Moved
from agent_sync.work.hook.orders import Order, carry_out, hook_change
from agent_sync.work.hook.states import ACTIVE
from agent_sync.work.hook.view import HookSeen, WorkView

UNMERGED = "the issue was closed without a merge"
# What becomes of a hook whose claim ends.
HookEnding = Callable[[WorkHook, Tip, datetime], Moved]


def finish_with_hook(context: Context, claim: Claim, order: DeleteClaim) -> None:
    """Mark the claim as done and its work as complete, with what proves it; closed without a merge is no result."""
    receipts: list[str] = []
    if order.landed:
        # Read now: afterwards the record is complete, and may be gone.
        recording.attempt(context, lambda context: receipts.extend(recording.receipt_lines(context, order.landed)))
    pull, merge_commit = (order.merged.number, order.merged.merge_commit) if order.merged else (None, "")
    output: JsonObject = {"pullRequest": pull, "mergeCommit": merge_commit, "receipts": [*receipts]}

    def ended(hook: WorkHook, tip: Tip, now: datetime) -> Moved:
        if hook.task is None or not order.landed:
            return moves.after_cancel(hook, now, UNMERGED)
        result = _merged_result(context, hook.task, order, output, now)
        return moves.after_result(hook, result, holding_of(tip.lease, worker_of(claim)))

    _end(context, claim, LeaseState.DONE, ended)


def release_with_hook(context: Context, claim: Claim, reason: str) -> Tip | None:
    """Release the claim and take its work off the hook; return what the ref holds instead if it is another's by now."""
    why = f"given back{': ' + reason if reason else ''}"
    return _end(context, claim, LeaseState.RELEASED, lambda hook, _tip, now: moves.after_cancel(hook, now, why[:2000]))


def hook_with(view: WorkView, nonce: str) -> HookSeen | None:
    """Return the hook on which the work of a holding hangs, unless that work has ended."""
    return next((seen for seen in view.hooks.values() if _is_at_work(seen.hook, nonce)), None)


def _is_at_work(hook: WorkHook | None, nonce: str) -> bool:
    return hook is not None and hook.state in ACTIVE and hook.status.nonce == nonce


def _end(context: Context, claim: Claim, state: LeaseState, ending: HookEnding) -> Tip | None:
    """End claim and hook if they still are this holding's; trouble with the remote leaves both to the next event."""
    lease, issue = claim.lease, claim.issue_number
    if lease is None or not claim.may_act:
        return None

    def decide(view: WorkView, now: datetime) -> Order[Tip | None]:
        tip, seen = view.claims.get(issue), hook_with(view, lease.nonce)
        if not isinstance(tip, Tip) or tip.lease.nonce != lease.nonce:
            return Order(tip if isinstance(tip, Tip) else None)
        held = (ending_change(tip, now, state),) if tip.lease.state is LeaseState.HELD else ()
        if seen is None or seen.hook is None:
            return Order(None, held)
        return Order(None, (*held, hook_change(seen.name.ref, seen.sha, ending(seen.hook, tip, now), now)))

    try:
        return carry_out(context, decide, issue=issue, where=Where(lease.where)).value
    except GitFailed as error:
        message = f"The lease of issue #{issue} could not be ended: {error.happened}"
        helps = "run the same command again, or agent-sync sync"
        raise LeaseUnsettled(message, attempted="ending the work on the hook", helps=helps) from error


def _merged_result(
    context: Context, task: HookTask, order: DeleteClaim, output: JsonObject, now: datetime
) -> HookResult:
    # What was merged may have been pushed by somebody else, and then is not here.
    tree = tree_of(context.git, order.landed) if commit_of(context.git, order.landed) else ""
    pull = order.merged.number if order.merged else None
    evidence = evidence_of(task, output, now, Standpoint(order.landed, tree, pull))
    return HookResult(task_id=task.id, status=ResultStatus.COMPLETE, output=output, evidence=evidence)
