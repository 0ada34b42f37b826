"""Puts what is known of one claim together: its situation, its pull request, and the last sign of work on it."""

from datetime import datetime, timedelta

from agent_sync.fleet.seen import KEPT_BY_WATCH, FleetSeen, HeldTask, Session
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.model import Lease, LeaseProof, Tip
from agent_sync.leases.refs.values import Where
from agent_sync.leases.rules import SLUNG, HoldingState, heard_of_at, holding_state, is_expired
from agent_sync.leases.words import holder_name
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.actions import LeaseLost
from agent_sync.task.decision.claims_seen import ClaimedIssue
from agent_sync.task.decision.facts import IssueSeen, Pull, PullState
from agent_sync.task.decision.feedback.checks import ChecksVerdict
from agent_sync.task.decision.situation import Known, checks_known, situation
from agent_sync.task.decision.situations import OnHook, Situation, Unusable

BOT = "[bot]"


@dataclass(frozen=True)
class Standing:
    """One claim as it stands; `issue` is None where GitHub does not say."""

    held: HeldTask
    now: datetime
    stands: Situation | None = None
    issue: ClaimedIssue | None = None
    claim: Claim | None = None
    pull: Pull | None = None
    ci: ChecksVerdict | None = None
    last_sign: datetime | None = None
    # Nobody has given a sign of work for longer than is usual.
    is_silent: bool = False
    is_expired: bool = False
    viewer: str = ""

    @property
    def session(self) -> Session:
        """Whether a session of this machine is at it."""
        return self.held.here.session if self.held.here else Session.UNKNOWN

    @property
    def is_here(self) -> bool:
        """Whether its worktree is on this machine."""
        return self.held.here is not None

    @property
    def person(self) -> str:
        """The login of the one person who answers for it; empty where that is the viewer, or nobody in particular."""
        if self.is_here:
            return ""
        people = [self.issue.pull_author] if self.issue and self.pull else []
        people = [login for login in people if login and not login.endswith(BOT)]
        people = people or list(self.issue.assignees if self.issue else ())
        return "" if not people or not self.viewer or self.viewer in people else people[0]


def standing_of(held: HeldTask, seen: FleetSeen, now: datetime) -> Standing:
    """Return how a claim stands, from everything that was seen of it."""
    issue = seen.github.issue(held.issue) if seen.github else None
    pull = _own_pull(held, issue)
    claim = held.here.claim if held.here else _claim_of(held.lease, pull)
    stands = _situation(held, seen, claim, pull, now)
    last = _last_sign(held, issue if pull else None, now)
    lease = held.lease
    return Standing(
        held=held,
        now=now,
        stands=stands,
        issue=issue,
        claim=claim,
        pull=pull,
        ci=checks_known(claim, pull) if claim and claim.pr_number else None,
        last_sign=last,
        is_silent=last is not None and now - last > timedelta(seconds=seen.quiet_s),
        is_expired=lease is not None and is_expired(lease, now, seen.allowance_s),
        viewer=seen.github.viewer if seen.github else "",
    )


def worker_of(lease: Lease | None) -> str:
    """Return the worker that a claim is kept for and who has not begun; empty where there is none."""
    return lease.phase.removeprefix(SLUNG) if lease and lease.phase.startswith(SLUNG) else ""


def _own_pull(held: HeldTask, issue: ClaimedIssue | None) -> Pull | None:
    """Return the claim's pull request; one that ended before the claim was made belongs to an earlier one."""
    if issue is None or issue.pull is None:
        return None
    known = held.here.claim.pr_number if held.here and held.here.claim else held.lease and held.lease.pr
    if known == issue.pull.number:
        return issue.pull
    if held.here:
        # Whether a merged one is of this work only its worktree can tell.
        is_beside = issue.pull.state is PullState.OPEN and held.here.claim and held.here.claim.phase is Phase.CODING
        return issue.pull if is_beside else None
    ended, begun = issue.moments.ended, held.lease.acquired_at if held.lease else None
    # GitHub tells whole seconds.
    return None if ended and begun and ended < begun.replace(microsecond=0) else issue.pull


def _claim_of(lease: Lease | None, pull: Pull | None) -> Claim | None:
    """Return the claim of another machine as its lease tells it, with a pull request that it may not know yet."""
    if lease is None or worker_of(lease):
        return None
    phase = Phase(lease.phase) if lease.phase in set(Phase) else Phase.CODING
    if pull and phase in {Phase.CODING, Phase.READY_FOR_PR}:
        phase = Phase.PR_CREATED
    number = pull.number if pull else lease.pr
    return Claim(
        schema_version=1,
        issue_number=lease.issue,
        branch=lease.branch,
        agent_id=lease.holder.agent,
        phase=phase,
        pr_number=number,
    )


def _situation(
    held: HeldTask, seen: FleetSeen, claim: Claim | None, pull: Pull | None, now: datetime
) -> Situation | None:
    here = held.here
    if here and here.trouble:
        return Unusable(here.trouble)
    if worker_of(held.lease) and not (claim and claim.is_lost):
        return OnHook(held.issue, worker_of(held.lease))
    if held.trouble or (claim is None and here is None):
        return None
    if here is None and seen.github is None:
        # The phase of a lease is that of its last renewal: without GitHub it would be a guess.
        return None
    known = Known(
        is_ahead=bool(here and here.is_ahead),
        pull=pull,
        issue=_issue_seen(held.issue, seen),
        is_head_here=here.is_head_here if here else None,
        lease=_loss(held, claim),
        wake=seen.wake,
        remote=seen.remote,
    )
    return situation(claim, here.record if here else None, now, known)


def _issue_seen(number: int, seen: FleetSeen) -> IssueSeen | None:
    """Return the issue as GitHub has it; nothing where it does not say."""
    if seen.github is None:
        return None
    found = seen.github.issue(number)
    if found is None:
        return IssueSeen(is_open=False, is_gone=True) if number in seen.github.gone else None
    return IssueSeen(is_open=found.is_open, assignees=found.assignees, viewer=seen.github.viewer)


def _loss(held: HeldTask, claim: Claim | None) -> LeaseLost | None:
    """Return who holds the issue of a claim here, if its ref says that it is somebody else."""
    if claim is None or claim.lease is None or held.here is None or held.lease is None:
        return None
    mine = LeaseProof(claim.issue_number, claim.lease.epoch, claim.lease.nonce)
    found = holding_state(mine, Tip("", held.lease, Where(claim.lease.where)))
    return LeaseLost(holder_name(held.lease)) if found is HoldingState.LOST else None


def _last_sign(held: HeldTask, issue: ClaimedIssue | None, now: datetime) -> datetime | None:
    """Return the newest sign of work: what was left on this machine, else the lease; and a push."""
    lease, here = held.lease, held.here
    signs = [here.last_sign if here else None, issue.moments.pushed if issue else None]
    if lease:
        signs.append(lease.acquired_at)
        if here is None and lease.holder.session != KEPT_BY_WATCH:
            signs.append(lease.renewed_at)
    return max((heard_of_at(at, now) for at in signs if at), default=None)
