"""The orders about one lease, each a pure decision from what its ref holds and what came of the last swap."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases import rules
from agent_sync.leases.claim_refs import claim_commit, claim_ref, known_claim, read_claim
from agent_sync.leases.identity import fresh_id
from agent_sync.leases.intents import BEGINNINGS, Intent, Intents, Verb
from agent_sync.leases.model import Lease, LeaseProof, LeaseState, Tip
from agent_sync.leases.refs.compare_and_swap import RefChange, RefOrder, SwapPlan, Tried
from agent_sync.leases.refs.values import CLAIMS, BranchHead, PushResult, RefTransport, RefUpdate
from agent_sync.leases.results import BranchRefused, ClaimSeen, Doubt, LeaseOutcome, LeaseRequest, NotHeld, Unknown, Won
from agent_sync.leases.rules import HoldingState, holding_state
from agent_sync.system.git_refusals import is_lost_race

ATTEMPTS = 4


class Race(StrEnum):
    """How much a lost race is worth looking at."""

    FOR_THIS = "this issue is wanted: whose it is now is read"
    FOR_ANY = "any issue will do: that it was lost is enough"
    FOR_THE_REST = "any issue will do, and several were lost: all claims are read"


@dataclass(frozen=True)
class GaveUp:
    """The ref can be read and stands where it stood, however often it was tried."""

    tried: Tried[Lease]


LeaseAnswer = LeaseOutcome | BranchRefused | GaveUp


@dataclass(frozen=True)
class LeaseOrder(RefOrder[ClaimSeen, Lease, LeaseAnswer]):
    """An order to one issue's ref; its intent is on disk before the swap."""

    issue: int
    verb: Verb
    intents: Intents

    def look(self, transport: RefTransport) -> ClaimSeen:
        """Read the ref."""
        return read_claim(transport, self.issue)

    def before_swap(self, plan: SwapPlan[Lease], updates: Sequence[RefUpdate]) -> None:
        """Write down what is meant: after a kill or a lost answer it tells what was ours."""
        lease, [update] = plan.value, updates
        self.intents.record(Intent(self.issue, update.ref, self.verb, lease.nonce, lease.epoch, update.old, update.new))

    def plan(
        self, lease: Lease, old: str, parent: str, branch: BranchHead | None = None, note: str = ""
    ) -> SwapPlan[Lease]:
        """Return what swaps a lease in."""
        return SwapPlan(lease, (RefChange(claim_ref(self.issue), old, claim_commit(lease, parent, note)),), branch)


@dataclass(frozen=True)
class Beginning(LeaseOrder):
    """Getting a lease; `pending` is an earlier attempt of this worktree that was never settled."""

    request: LeaseRequest
    pending: Intent | None

    def begin(self, before: Tip | None, tried: Tried[Lease] | None) -> SwapPlan[Lease]:
        """Return the first lease of a holding."""
        old = before.sha if before else ""
        # From the same start it is the same attempt: whichever of its pushes arrives, it is ours.
        known = {self.pending.old: self.pending.nonce} if self.pending and not tried else {}
        known |= {tried.updates[0].old: tried.plan.value.nonce} if tried else {}
        lease = rules.acquired_lease(self.issue, self.request, known.get(old) or fresh_id(), before)
        return self.plan(lease, old, old, note=self.request.note)

    def answer(self, seen: ClaimSeen, tried: Tried[Lease] | None) -> LeaseOutcome | None:
        """Return what is already decided; None while the issue is free."""
        if isinstance(seen, Unknown):
            return replace(seen, is_sent=self.pending is not None or (tried is not None and tried.was_sent))
        if seen is None or seen.lease.state is not LeaseState.HELD:
            return None
        return Won(seen) if self.is_ours(seen, tried) else NotHeld(seen)

    def is_ours(self, seen: Tip, tried: Tried[Lease] | None) -> bool:
        """Tell whether the last attempt of this worktree is what is there."""
        nonce = tried.plan.value.nonce if tried else self.pending.nonce if self.pending else ""
        return seen.lease.state is LeaseState.HELD and rules.is_mine(seen.lease, nonce)


@dataclass(frozen=True)
class Acquisition(Beginning):
    """Takes an issue that nobody holds: one push if nobody ever did, and a look only if that fails."""

    race: Race = Race.FOR_THIS

    def look_after(self, transport: RefTransport, tried: Tried[Lease]) -> ClaimSeen:
        """Read the ref, with all others where the next choice depends on them, or leave it at the loss."""
        if self.race is Race.FOR_ANY and tried.pushed.result is PushResult.REJECTED:
            return Unknown(Doubt.RACED, "another push was faster")
        return read_claim(transport, self.issue, fetched=CLAIMS if self.race is Race.FOR_THE_REST else "")

    def first_look(self, transport: RefTransport) -> ClaimSeen:
        """Return what this clone knows, if that is that the issue is free: the push itself finds out."""
        known = known_claim(transport, self.issue)
        is_open = known is None or (isinstance(known, Tip) and known.lease.state is not LeaseState.HELD)
        return known if is_open and not self.pending else self.look(transport)

    def decide(self, seen: ClaimSeen, tried: Tried[Lease] | None) -> SwapPlan[Lease] | LeaseAnswer:
        """Return who has the issue, or how to get it."""
        answer = self.answer(seen, tried)
        if answer:
            return answer
        if tried and tried.number == ATTEMPTS:
            return GaveUp(tried)
        return self.begin(seen if isinstance(seen, Tip) else None, tried)


@dataclass(frozen=True)
class TakeOver(Beginning):
    """Takes an issue from its holder, if its ref still is exactly what was judged."""

    judged: Tip

    def first_look(self, transport: RefTransport) -> ClaimSeen:  # noqa: ARG002
        """Return what was judged."""
        return self.judged

    def decide(self, seen: ClaimSeen, tried: Tried[Lease] | None) -> SwapPlan[Lease] | LeaseAnswer:
        """Return who has the issue, or how to get it."""
        if tried is None and self.is_ours(self.judged, None):
            return Won(self.judged)
        if not isinstance(seen, Tip) or seen.sha != self.judged.sha:
            gone = Unknown(Doubt.VANISHED, f"The claim of #{self.issue} is gone.")
            return self.answer(seen, tried) or (NotHeld(seen) if isinstance(seen, Tip) else gone)
        return GaveUp(tried) if tried and tried.number == ATTEMPTS else self.begin(self.judged, tried)


@dataclass(frozen=True)
class HolderOrder(LeaseOrder):
    """What a holder does with its lease: what that becomes, on which commit, and which branch goes with it."""

    mine: LeaseProof
    changed: Callable[[Tip], Lease]
    parent: Callable[[Tip], str]
    branch: BranchHead | None = None

    def first_look(self, transport: RefTransport) -> ClaimSeen:
        """Return what this clone knows, or read the ref where that is not enough."""
        return self.known_tip(transport) or self.look(transport)

    def known_tip(self, transport: RefTransport) -> Tip | None:
        """Return what this clone knows, unless its last order was cut off or it knows nothing of ours."""
        pending, known = self.intents.pending(self.issue), known_claim(transport, self.issue)
        is_sure = pending is None or pending.verb in BEGINNINGS
        return known if is_sure and isinstance(known, Tip) and self._is_held(known) else None

    def decide(self, seen: ClaimSeen, tried: Tried[Lease] | None) -> SwapPlan[Lease] | LeaseAnswer:
        """Return what came of it, or what to swap in."""
        if isinstance(seen, Unknown):
            return seen
        if seen is None:
            return Unknown(Doubt.VANISHED, f"The claim of #{self.issue} is gone.")
        if not self._is_held(seen):
            is_ended = holding_state(self.mine, seen) is HoldingState.FINISHED
            return Won(seen) if is_ended and self.verb is not Verb.RENEW else NotHeld(seen)
        answer = self._answer(seen, tried) if tried else None
        return answer or self.plan(self.changed(seen), seen.sha, self.parent(seen), self.branch)

    def _answer(self, seen: Tip, tried: Tried[Lease]) -> LeaseAnswer | None:
        """Tell from the ref what came of a swap that did not clearly work; None where trying again helps."""
        update, is_rejected = tried.updates[0], tried.pushed.result is PushResult.REJECTED
        if seen.sha == update.new:
            return Won(seen)
        if seen.sha != update.old and self.verb is Verb.RENEW and not self.branch:
            # Another process of this holder was faster, which serves as well.
            return Won(seen)
        if is_lost_race(tried.pushed.text) and tried.number < ATTEMPTS:
            # The next push is told what stands there now.
            return None
        if seen.sha == update.old and self.branch:
            return BranchRefused(tried.pushed.text) if is_rejected else GaveUp(tried)
        return GaveUp(tried) if tried.number == ATTEMPTS else None

    def _is_held(self, seen: Tip) -> bool:
        return holding_state(self.mine, seen) is HoldingState.HELD
