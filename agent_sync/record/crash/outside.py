"""Asks GitHub and the lease, side by side and for a few seconds only, whether the work may continue at all."""

import threading
import time
from collections.abc import Callable

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.fence import lease_stop, remember
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision import messages
from agent_sync.task.decision.actions import LeaseLost
from agent_sync.task.decision.evolve import evolve
from agent_sync.task.decision.facts import PullState
from agent_sync.task.decision.pull_text import claim_marker

# A session that begins after a crash learns of it at once, whether anybody answers or not.
_PATIENCE_S = 5.0


@dataclass
class Outside:
    """What speaks against continuing, as GitHub has it: empty where nothing does, None where it was not to be had."""

    objection: str | None = None


def look_outside(context: Context, session_id: str = "", *, asks_github: bool = True) -> Outside:
    """Ask GitHub for the pull request and the issue, and the remote for the lease; a lost lease is remembered."""
    found, claim = Outside(), context.store.read()
    if claim is None or not claim.may_act:
        return found

    def ask() -> None:
        found.objection = _objection_on_github(context, claim)

    questions: list[Callable[[], None]] = [lambda: _look_at_lease(context, claim, session_id)]
    # The claim knows by itself that it is merged.
    if asks_github and claim.phase not in {Phase.MERGED_DETECTED, Phase.DONE}:
        questions.append(ask)
    # Threads, because a name look-up cannot be interrupted; nobody waits for them when this process ends.
    asking = [threading.Thread(target=_attempt, args=(context, one), daemon=True) for one in questions]
    for thread in asking:
        thread.start()
    give_up = time.monotonic() + _PATIENCE_S
    for thread in asking:
        thread.join(max(0.0, give_up - time.monotonic()))
    return found


def merged_objection(pull: int | None, issue: int) -> str:
    """Return what speaks against continuing a task whose pull request is merged."""
    return f"Do not resume: PR #{pull} is merged. A human decides with /done whether #{issue} is closed."


def _attempt(context: Context, question: Callable[[], None]) -> None:
    try:
        question()
    except (AgentSyncError, OSError) as error:
        context.log.write(clock.now(), "trouble", error=str(error))


def _look_at_lease(context: Context, claim: Claim, session_id: str) -> None:
    found = lease_stop(context, claim)
    if isinstance(found, LeaseLost):
        context.outbox.add([messages.lease_lost(evolve(claim, found), session_id)])
        remember(context, claim, found)


def _objection_on_github(context: Context, claim: Claim) -> str:
    issue = claim.issue_number
    seen = context.gateway.closing(issue=issue, pull=claim.pr_number, branch=claim.branch, marker=claim_marker(claim))
    if seen.pull and seen.pull.state is PullState.MERGED:
        return merged_objection(seen.pull.number, issue)
    if not seen.is_open:
        return f"Do not resume: issue #{issue} is closed."
    if seen.pull and seen.pull.state is PullState.CLOSED and not claim.closed_unmerged:
        return f"Do not resume: PR #{seen.pull.number} was closed without merging. A human decides how to go on."
    return ""
