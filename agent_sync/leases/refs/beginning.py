"""Getting a lease: of an issue that nobody holds, or from a holder that has let it expire."""

from dataclasses import dataclass, replace

from agent_sync.leases import rules
from agent_sync.leases.identity import fresh_id
from agent_sync.leases.model import State, Tip
from agent_sync.leases.refs.bench import ATTEMPTS, Bench, Draft, pause
from agent_sync.leases.refs.intents import Intent, Verb
from agent_sync.leases.refs.remote import Pushed, Verdict
from agent_sync.leases.results import Doubt, Lost, Outcome, Request, Seen, Unknown, Won


@dataclass(frozen=True)
class _Attempt:
    """One try at an issue: what is believed to be there, and what was meant before."""

    issue: int
    request: Request
    seen: Seen
    pending: Intent | None
    is_sent: bool
    number: int = 1


def acquire(bench: Bench, issue: int, request: Request) -> Outcome:
    """Take an issue that nobody holds: one push if nobody ever did, and a look only if that fails."""
    pending = bench.begun(issue)
    known = bench.store.known(issue)
    # What is not known to be held is tried first; the push itself finds out.
    is_open = known is None or (isinstance(known, Tip) and known.lease.state is not State.HELD)
    seen = known if is_open and not pending else bench.store.look(issue)
    return _acquired(bench, _Attempt(issue, request, seen, pending, pending is not None))


def take_over(bench: Bench, seen: Tip, request: Request) -> Outcome:
    """Take an issue from its holder, if its ref still is exactly what was judged."""
    pending = bench.begun(seen.lease.issue)
    if pending and _is_held_by(seen, pending.nonce):
        return Won(seen)
    return _taken_over(bench, _Attempt(seen.lease.issue, request, seen, pending, pending is not None), seen)


def _acquired(bench: Bench, attempt: _Attempt) -> Outcome:
    answer = _answer(bench, attempt)
    if answer:
        return answer
    base = attempt.seen if isinstance(attempt.seen, Tip) else None
    draft = _draft(bench, Verb.ACQUIRE, attempt, base)
    pushed = bench.swap(draft)
    if pushed.verdict is Verdict.LANDED:
        return Won(draft.tip)
    following = _following(bench, attempt, draft, pushed)
    if attempt.number == ATTEMPTS:
        return _answer(bench, following) or bench.doubt(draft, pushed)
    return _acquired(bench, following)


def _taken_over(bench: Bench, attempt: _Attempt, judged: Tip) -> Outcome:
    draft = _draft(bench, Verb.TAKE_OVER, attempt, judged)
    pushed = bench.swap(draft)
    if pushed.verdict is Verdict.LANDED:
        return Won(draft.tip)
    following = _following(bench, attempt, draft, pushed)
    if not isinstance(following.seen, Tip) or following.seen.sha != judged.sha:
        vanished = Unknown(Doubt.VANISHED, f"The claim of #{attempt.issue} is gone.")
        return _answer(bench, following) or (Lost(following.seen) if isinstance(following.seen, Tip) else vanished)
    return bench.doubt(draft, pushed) if attempt.number == ATTEMPTS else _taken_over(bench, following, judged)


def _answer(bench: Bench, attempt: _Attempt) -> Outcome | None:
    """Tell what is already decided; None while the issue is free."""
    seen, pending = attempt.seen, attempt.pending
    if isinstance(seen, Unknown):
        return replace(seen, is_sent=attempt.is_sent)
    if seen is None:
        return None
    if seen.lease.state is not State.HELD:
        return None
    if pending and _is_held_by(seen, pending.nonce):
        return Won(seen)
    if pending and pending.old != seen.sha:
        # From where it is now our push cannot arrive any more.
        bench.intents.settle(attempt.issue)
    return Lost(seen)


def _is_held_by(seen: Tip, nonce: str) -> bool:
    return seen.lease.state is State.HELD and rules.is_mine(seen.lease, nonce)


def _draft(bench: Bench, verb: Verb, attempt: _Attempt, base: Tip | None) -> Draft:
    old = base.sha if base else ""
    # From the same start it is the same attempt: whichever of its pushes arrives, it is ours.
    again = attempt.pending if attempt.pending and attempt.pending.old == old else None
    lease = rules.acquired(attempt.issue, attempt.request, again.nonce if again else fresh_id(), base)
    return bench.draft(verb, lease, old=old, parent=old)


def _following(bench: Bench, attempt: _Attempt, draft: Draft, pushed: Pushed) -> _Attempt:
    pause(attempt.number - 1)
    seen = bench.store.look(attempt.issue)
    is_sent = attempt.is_sent or pushed.was_sent
    return replace(attempt, seen=seen, pending=draft.intent, is_sent=is_sent, number=attempt.number + 1)
