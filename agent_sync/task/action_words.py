"""Says in words what an action would do, for `--dry-run`."""

from typing import assert_never

from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import (
    Action,
    AdoptPull,
    CardChange,
    CloseTask,
    DeleteClaim,
    MoveCard,
    OpenPull,
    PushBranch,
    RecordOutcome,
    Say,
)
from agent_sync.task.decision.evolve import evolve
from agent_sync.task.decision.feedback.feedback_actions import RequestReview, RerunJobs
from agent_sync.task.decision.outside_text import quoted


def action_words(action: Action, claim: Claim) -> str:
    """Return what `action` would do for `claim`."""
    match action:
        case PushBranch(branch, sha):
            return f"push branch {quoted(branch)} at {sha[:12]}"
        case OpenPull():
            kind = "draft PR" if action.draft else "PR"
            opened = f"open a {kind} {quoted(action.title)} from {quoted(action.branch)} into {quoted(action.base)}"
            return opened + _card(action.change)
        case AdoptPull(pull, _, change):
            return f"take PR #{pull.number} ({pull.state.value}) for this claim's" + _card(change)
        case MoveCard(change):
            return "write the card" + _card(change, ": ")
        case CloseTask():
            return _closing(action)
        case DeleteClaim():
            return "delete .agent-claim.json and give the lease back"
        case RerunJobs(pull, _, names, pattern):
            jobs = ", ".join(quoted(name, limit=60) for name in names)
            return f"run failed jobs of PR #{pull.number} again: {jobs} (looks like {pattern})"
        case RequestReview(pull, reviews):
            people = ", ".join(quoted(review.remark.author, limit=40) for review in reviews)
            return f"ask for a new review of PR #{pull.number} by {people}"
        case RecordOutcome(outcome):
            after = evolve(claim, outcome).phase
            moved = f"phase {claim.phase} → {after}" if after is not claim.phase else f"phase stays {after}"
            return f"write down what was seen ({moved})"
        case Say(notice):
            return f"say: {notice.text}"
        case _:
            assert_never(action)


def _card(change: CardChange | None, lead: str = "; card: ") -> str:
    """Return what is written on the card."""
    if change is None:
        return ""
    agent = f"Agent {quoted(change.agent)}" if change.agent else "Agent empty"
    return lead + (f"Status {quoted(change.status)}, {agent}" if change.status else agent)


def _closing(order: CloseTask) -> str:
    comment = "comment and " if order.comment else ""
    state = "open" if order.stays_open else "closed"
    left = f"{comment}leave issue #{order.issue_number} {state}"
    return (f"{comment}close issue #{order.issue_number}" if order.close else left) + _card(order.change)
