"""Looks at every side of this worktree's task: two requests to GitHub, two fetches, git and the record."""

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, NotFound
from agent_sync.leases.claim_refs import transport_of
from agent_sync.leases.fence import lease_stop
from agent_sync.leases.model import Lease, LeaseState, Tip
from agent_sync.leases.refs.values import Where
from agent_sync.reconcile.comparison import TaskSeen
from agent_sync.record.keep import record_seen
from agent_sync.system import clock, git_history
from agent_sync.system.git_branches import has_had
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.drift.comparing import card_to_watch, issue_of
from agent_sync.task.decision.facts import Branch, Pull, Watched
from agent_sync.task.decision.needs import wanted_status
from agent_sync.task.decision.situation import RecordSeen
from agent_sync.task.decision.tasks import Task
from agent_sync.task.situation_here import pull_beside
from agent_sync.work.findings import HookFinding, findings
from agent_sync.work.hook.reading import look as look_at_work


def look(context: Context, claim: Claim, *, asks_github: bool = True) -> TaskSeen:
    """Return everything that says something of a claim; without GitHub only what is known here and on the remote."""
    git = context.git
    claim = claim.model_copy(update={"status": wanted_status(claim, context.settings)})
    branch = Branch(git.head_of(claim.branch) if claim.branch else None, git.current_branch() == claim.branch)
    pull, task = _ask_github(context, claim) if asks_github else (None, None)
    held, found = _refs(context, claim)
    return TaskSeen(
        claim=claim,
        now=clock.now(),
        branch=branch,
        is_ahead=pull is not None and claim.is_pull_open and git_history.is_ahead(git, claim.branch, pull.head_sha),
        is_head_here=pull is None or not claim.branch or has_had(git, claim.branch, pull.head_sha),
        pull=pull,
        issue=issue_of(task) if task else pull.issue if pull else None,
        card=task.card if task else None,
        lease=lease_stop(context, claim, looks_again=True),
        held=held,
        record=_record(context),
        findings=found,
        has_board=context.settings.project.number is not None,
    )


def _ask_github(context: Context, claim: Claim) -> tuple[Pull | None, Task | None]:
    """Return pull request and task; an issue that is gone is told by the pull request's answer."""
    gateway, issue = context.gateway, claim.issue_number
    pull = None
    if claim.pr_number:
        watched = Watched(card_to_watch(claim), claim.branch)
        pull = gateway.pull(claim.pr_number, with_checks=True, issue=issue, watched=watched)
    elif claim.branch:
        beside = pull_beside(context, claim)
        pull = beside.pull if beside.is_own else None
    try:
        return pull, gateway.task(issue)
    except NotFound:
        if pull is None or pull.issue is None or not pull.issue.is_gone:
            raise
        return pull, None


def _refs(context: Context, claim: Claim) -> tuple[Lease | None, tuple[HookFinding, ...]]:
    """Return the lease as its ref has it, and what is wrong with work hooks that are about the issue."""
    if claim.lease is None:
        return None, ()
    transport = transport_of(context, Where(claim.lease.where))
    view = look_at_work(transport, context.settings.lease.allowance_s, issue=claim.issue_number)
    tip = view.claims.get(claim.issue_number)
    held = tip.lease if isinstance(tip, Tip) and tip.lease.state is LeaseState.HELD else None
    about = tuple(one for one in findings(view, clock.now()) if one.issue == claim.issue_number)
    return held, about


def _record(context: Context) -> RecordSeen | None:
    try:
        return record_seen(context)
    except (AgentSyncError, OSError):
        return None
