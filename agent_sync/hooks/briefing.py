"""Tells a new session what it holds and what the next step is."""

from agent_sync.claim.model import Claim
from agent_sync.claim.phases import Phase
from agent_sync.desk import Desk
from agent_sync.hooks.event import HookEvent
from agent_sync.hooks.reply import Reply
from agent_sync.lifecycle.foreign import quoted

NEXT_STEP = {
    Phase.CODING: "The work goes on; `/handoff` when it is ready for a PR.",
    Phase.READY_FOR_PR: "The PR is opened when this turn ends.",
    Phase.PR_CREATED: "CI is watched while the session is idle.",
    Phase.CHECKS_RUNNING: "CI is watched while the session is idle.",
    Phase.MERGED_DETECTED: "The PR is merged; a human decides with `/done` whether the issue is closed.",
    Phase.DONE: "The issue is closed when this turn ends.",
}


def brief(desk: Desk, _event: HookEvent) -> Reply:
    """Return the text for the session's start; nothing where nothing is held."""
    claim = desk.store.read()
    return Reply(agent=(held(claim),)) if claim else Reply()


def held(claim: Claim) -> str:
    """Return one line on the claim held here."""
    pull = f", PR #{claim.pr_number}" if claim.pr_number else ""
    where = f"on branch {quoted(claim.branch)}{pull}, phase {claim.phase}"
    return f"agent-sync: this worktree holds issue #{claim.issue_number} {where}. {NEXT_STEP[claim.phase]}"
