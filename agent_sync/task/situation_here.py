"""Looks how the task of a worktree stands: claim file, recovery record and git; GitHub only through what is known."""

from dataclasses import replace

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.system import clock, git_history
from agent_sync.system.git_branches import committed_at, has_had
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.facts import Beside, Pull, PullState
from agent_sync.task.decision.feedback.reviews import Wake
from agent_sync.task.decision.pull_text import claim_marker
from agent_sync.task.decision.situation import NOTHING_ASKED, Known, RecordSeen, situation
from agent_sync.task.decision.situations import Situation, Unusable


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
    settings = context.settings
    seen = replace(
        known,
        has_board=settings.project.number is not None,
        is_ahead=is_ahead,
        is_head_here=claim is not None and is_head_here(context, claim, known.pull),
        wake=Wake(settings.reviews.wake),
        remote=context.remotes.base,
    )
    return situation(claim, _record(context), clock.now(), seen)


def pull_beside(context: Context, claim: Claim) -> Beside:
    """Ask for a pull request of the branch of a claim that names none; a merged one is ours with this very work."""
    pull = context.gateway.branch_pull(claim.branch)
    if pull is None or pull.state is not PullState.MERGED:
        return Beside(pull, is_own=pull is not None and pull.state is PullState.OPEN)
    has_marker = claim.lease is not None and claim_marker(claim) in pull.body
    return Beside(pull, is_own=has_marker or _is_made_since_claim(context, claim, pull.head_sha))


def _is_made_since_claim(context: Context, claim: Claim, commit: str) -> bool:
    """Tell whether the branch is at a commit made since the claim: an older one is of an earlier round of the issue."""
    if context.git.head_of(claim.branch) != commit:
        return False
    began = claim.agent_id.rpartition("-")[2]
    return not began.isdecimal() or committed_at(context.git, commit) >= int(began)


def is_branch_ahead(context: Context, claim: Claim, pull: Pull | None) -> bool:
    """Tell whether the branch here has commits that the pull request does not have; unasked, as last pushed."""
    if not claim.is_pull_open:
        return False
    there = pull.head_sha if pull else context.git.remote_head_of(context.remotes.push, claim.branch)
    return git_history.is_ahead(context.git, claim.branch, there)


def is_head_here(context: Context, claim: Claim, pull: Pull | None) -> bool:
    """Tell whether the branch here has the pull request's head; git is asked only where that may be somebody else's."""
    seen = claim.drift.foreign_head if claim.drift else ""
    head = pull.head_sha if pull else seen
    if not head or not claim.is_pull_open:
        return True
    return has_had(context.git, claim.branch, head)


def _record(context: Context) -> RecordSeen | None:
    """Return what the record says; one that cannot be read says nothing, and other commands say why."""
    from agent_sync.record.keep import record_seen

    try:
        return record_seen(context)
    except (AgentSyncError, OSError):
        return None
