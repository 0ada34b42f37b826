"""Carries out orders about leases: get one, take one over, renew it, push under it, give it back."""

from datetime import datetime
from functools import cached_property

from agent_sync.leases import rules
from agent_sync.leases.claim_refs import (
    claim_commit,
    claim_ref,
    forget_refusal,
    known_refs,
    read_claim,
    read_claims,
    remember_refusal,
)
from agent_sync.leases.ended import list_claims
from agent_sync.leases.identity import fresh_id, worktree_id
from agent_sync.leases.intents import BEGINNINGS, Intent, Intents, Verb
from agent_sync.leases.model import Lease, LeaseProof, LeaseState, Tip
from agent_sync.leases.orders import (
    Acquisition,
    Beginning,
    GaveUp,
    HolderOrder,
    LeaseAnswer,
    LeaseOrder,
    Race,
    TakeOver,
)
from agent_sync.leases.refs.api_transport import ApiTransport
from agent_sync.leases.refs.compare_and_swap import Swapped, Tried, compare_and_swap
from agent_sync.leases.refs.probe import Probe, probe, refuses_all_refs
from agent_sync.leases.refs.values import CLAIMS, BranchHead, PushResult, RefTransport, RefUpdate, Where
from agent_sync.leases.results import (
    BranchRefused,
    ClaimSeen,
    Doubt,
    LeaseChange,
    LeaseOutcome,
    LeaseRequest,
    Listing,
    NotHeld,
    Unknown,
    Won,
)
from agent_sync.leases.words import blocked_text
from agent_sync.worktree import Place


class LeaseKeeper:
    """The leases of one transport, seen from one worktree; the result of an order is read from the ref.

    `worktree` is the id of the holder where that is not the worktree at `place` but one that is still to be made.
    """

    def __init__(self, transport: RefTransport, place: Place, worktree: str = "") -> None:
        self.transport = transport
        self._place = place
        self._worktree = worktree

    @property
    def where(self) -> Where:
        """How far its leases hold."""
        return self.transport.where

    @cached_property
    def _intents(self) -> Intents:
        return Intents(self._place, self._worktree or worktree_id(self._place))

    def acquire(self, issue: int, request: LeaseRequest, race: Race = Race.FOR_THIS) -> LeaseOutcome:
        """Take an issue that nobody holds; a remote that takes no claim refs is remembered as such."""
        order = Acquisition(issue, Verb.ACQUIRE, self._intents, request, self.begun(issue), race)
        outcome = self._begin(order)
        if isinstance(outcome, Unknown) and outcome.refused and not isinstance(self.transport, ApiTransport):
            remember_refusal(self._place, self.transport.url, request.now)
        return outcome

    def take_over(self, seen: Tip, request: LeaseRequest) -> LeaseOutcome:
        """Take an issue from its holder, if its ref still is what was judged by the rules."""
        issue = seen.lease.issue
        return self._begin(TakeOver(issue, Verb.TAKE_OVER, self._intents, request, self.begun(issue), seen))

    def confirm(self, mine: LeaseProof) -> None:
        """Forget how a lease was got, once its holder has saved that it has it."""
        pending = self.begun(mine.issue)
        if pending and pending.nonce == mine.nonce:
            self._intents.settle(mine.issue)

    def renew(self, mine: LeaseProof, change: LeaseChange) -> LeaseOutcome:
        """Let a lease run anew."""
        return without_branch(self._hold(self.renewal(mine, change)))

    def release(self, mine: LeaseProof, change: LeaseChange) -> LeaseOutcome:
        """Give an issue back; once ended, it stays as it ended."""
        return self._end(mine, Verb.RELEASE, LeaseState.RELEASED, change.now)

    def finish(self, mine: LeaseProof, change: LeaseChange) -> LeaseOutcome:
        """Mark an issue's work as done; once ended, it stays as it ended."""
        return self._end(mine, Verb.FINISH, LeaseState.DONE, change.now)

    def replace(self, issue: int, request: LeaseRequest) -> LeaseOutcome:
        """Put a released lease in the place of what cannot be read, which becomes its parent."""
        name = claim_ref(issue)
        found = next(iter(read_claims(self.transport, known_refs(self.transport, name))), None)
        if found is None or isinstance(found, Tip):
            # Somebody was faster.
            return NotHeld(found) if found else Unknown(Doubt.VANISHED, f"The claim of #{issue} is gone.")
        if found.unknown.doubt is not Doubt.UNREADABLE:
            return found.unknown
        kinds = {ref.sha: ref.kind for ref in self.transport.known(name, with_kinds=True)}
        # Only a commit can be a parent; anything else is named in the message.
        is_commit = kinds.get(found.sha) == "commit"
        note = request.note if is_commit else f"{request.note}\n\nIt was {found.sha}, which is no commit."
        lease = rules.replacing_lease(issue, request, fresh_id(), found.sha)
        new = self.transport.write(claim_commit(lease, found.sha if is_commit else "", note))
        pushed = self.transport.swap([RefUpdate(name, found.sha, new)])
        seen = Tip(new, lease, self.where) if pushed.result is PushResult.LANDED else self.read(issue)
        if isinstance(seen, Tip):
            return Won(seen) if seen.sha == new else NotHeld(seen)
        return seen or Unknown(Doubt.UNWRITTEN, pushed.text)

    def push_branch(self, branch: str, sha: str, mine: LeaseProof, change: LeaseChange) -> LeaseOutcome | BranchRefused:
        """Push a branch and renew the lease in one go: whoever lost the lease cannot push."""
        return self._hold(self.renewal(mine, change, BranchHead(branch, sha)))

    def read(self, issue: int) -> ClaimSeen:
        """Return what an issue's ref holds now; None means that nobody ever claimed it."""
        return read_claim(self.transport, issue)

    def list(self) -> Listing | Unknown:
        """Return what all claim refs hold now."""
        trouble = self.transport.fetch([CLAIMS])
        if trouble:
            return Unknown(Doubt.UNREACHABLE, trouble)
        return list_claims(self.transport, self._place)

    def probe(self, now: datetime) -> Probe:
        """Try what the remote takes, and remember the answer."""
        found = probe(self.transport)
        if found.is_accepted:
            forget_refusal(self._place, self.transport.url)
        elif found.is_refused:
            remember_refusal(self._place, self.transport.url, now)
        return found

    def begun(self, issue: int) -> Intent | None:
        """Return the last attempt of this worktree to get an issue, if its holder has not confirmed it."""
        pending = self._intents.pending(issue)
        return pending if pending and pending.verb in BEGINNINGS else None

    def _begin(self, order: Beginning) -> LeaseOutcome:
        outcome = without_branch(self._carry_out(order))
        pending = self.begun(order.issue) if isinstance(outcome, NotHeld) else None
        if pending and isinstance(outcome, NotHeld) and pending.old != outcome.tip.sha:
            # From where it is now our push cannot arrive any more.
            self._intents.settle(order.issue)
        return outcome

    def renewal(self, mine: LeaseProof, change: LeaseChange, branch: BranchHead | None = None) -> HolderOrder:
        """Return the order to let a lease run anew; whoever carries it out has the answer settled here."""

        def renewed(tip: Tip) -> Lease:
            return rules.renewed_lease(tip, change)

        return HolderOrder(mine.issue, Verb.RENEW, self._intents, mine, renewed, rules.parent_of_renewal, branch)

    def _end(self, mine: LeaseProof, verb: Verb, state: LeaseState, now: datetime) -> LeaseOutcome:
        def ending(tip: Tip) -> Lease:
            return rules.ended_lease(tip, state, now)

        order = HolderOrder(mine.issue, verb, self._intents, mine, ending, lambda tip: tip.sha)
        return without_branch(self._hold(order))

    def _hold(self, order: HolderOrder) -> LeaseOutcome | BranchRefused:
        came_of_it = compare_and_swap(self.transport, order)
        return self.settled(order, came_of_it)

    def settled(self, order: HolderOrder, came_of_it: Swapped[Lease] | LeaseAnswer) -> LeaseOutcome | BranchRefused:
        """Return what an order of a holder has come to, and forget its intent where that is known."""
        outcome = self._outcome(order, came_of_it)
        if not isinstance(outcome, Unknown):
            self._intents.settle(order.issue)
        return outcome

    def _carry_out(self, order: LeaseOrder) -> LeaseOutcome | BranchRefused:
        came_of_it = compare_and_swap(self.transport, order)
        return self._outcome(order, came_of_it)

    def _outcome(self, order: LeaseOrder, came_of_it: Swapped[Lease] | LeaseAnswer) -> LeaseOutcome | BranchRefused:
        match came_of_it:
            case Swapped(_, _, pushed) if pushed.result is PushResult.BRANCH_REFUSED:
                return BranchRefused(pushed.text)
            case Swapped(lease, updates, _):
                return Won(Tip(updates[0].new, lease, self.where))
            case GaveUp(tried):
                return self._doubt(order.issue, tried)
            case Won() | NotHeld() | Unknown() | BranchRefused() as outcome:
                return outcome

    def _doubt(self, issue: int, tried: Tried[Lease]) -> Unknown:
        """Say why a lease is not in, though its ref can be read and stands where it stood."""
        pushed = tried.pushed
        if pushed.result is PushResult.REJECTED and refuses_all_refs(self.transport, pushed, tried.updates[0].new):
            self._intents.settle(issue)
            return Unknown(Doubt.REFUSED, pushed.text)
        above = self.transport.above(tried.updates[0].ref) if pushed.result is PushResult.REJECTED else ""
        if above:
            self._intents.settle(issue)
            return Unknown(Doubt.BLOCKED, blocked_text(self.transport, above))
        # The intent stays: a push that is still on its way is ours when it arrives.
        return Unknown(Doubt.UNWRITTEN, pushed.text, is_sent=pushed.was_sent)


def without_branch(outcome: LeaseOutcome | BranchRefused) -> LeaseOutcome:
    """Return the outcome of an order that has pushed no branch."""
    if isinstance(outcome, BranchRefused):
        raise AssertionError("no branch was pushed")  # noqa: TRY004  # a caller cannot cause it
    return outcome
