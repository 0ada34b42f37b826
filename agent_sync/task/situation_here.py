"""Looks how the task of a worktree stands: claim file, recovery record and git; GitHub only through what is known."""

from dataclasses import replace

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.situation import NOTHING_ASKED, Known, RecordSeen, situation
from agent_sync.task.decision.situations import Situation, Unusable

_OPEN = frozenset({Phase.PR_CREATED, Phase.CHECKS_RUNNING})


def situation_here(context: Context) -> Situation:
    """Return how the task of this worktree stands, without asking GitHub."""
    try:
        claim = context.store.read()
    except AgentSyncError as error:
        return Unusable(error.happened)
    return situation_of(context, claim)


def situation_of(context: Context, claim: Claim | None, known: Known = NOTHING_ASKED) -> Situation:
    """Return how a claim, or a task without one, stands, given what a look at GitHub came to."""
    is_ahead = claim is not None and is_branch_ahead(context, claim, known.pull)
    seen = replace(known, has_board=context.settings.project.number is not None, is_ahead=is_ahead)
    return situation(claim, _record(context), clock.now(), seen)


def is_branch_ahead(context: Context, claim: Claim, pull: Pull | None = None) -> bool:
    """Tell whether the branch here has commits that the pull request does not have; unasked, as last pushed."""
    if claim.phase not in _OPEN or not claim.branch:
        return False
    there = pull.head_sha if pull else context.git.remote_head_of(context.settings.git.remote, claim.branch)
    return there is not None and context.git.is_ahead(claim.branch, there)


def _record(context: Context) -> RecordSeen | None:
    """Return what the record says; one that cannot be read says nothing, and other commands say why."""
    from agent_sync.record.page.told import seen_of

    try:
        found = context.recorder.opened()
    except (AgentSyncError, OSError):
        return None
    return seen_of(found[1]) if found else None
