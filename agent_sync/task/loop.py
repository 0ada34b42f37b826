"""Drives a claim: look, decide, act, save, and look again until nothing is left to do."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import ClaimGone, RateLimited
from agent_sync.leases.fence import stopped
from agent_sync.system import clock, files
from agent_sync.task.act import act
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision import messages
from agent_sync.task.decision.actions import (
    Action,
    AdoptPull,
    BranchPushed,
    CardRefused,
    ClaimDeleted,
    CloseTask,
    LeaseLost,
    LeaseUnknown,
    LeftOnHook,
    MoveCard,
    OpenPull,
    Outcome,
    Paused,
    PullAdopted,
    PullOpened,
    PullRefused,
    PullReopened,
    Record,
    Say,
)
from agent_sync.task.decision.decide import decide
from agent_sync.task.decision.evolve import evolve
from agent_sync.task.decision.facts import Branch, Facts, GateSeen, Trigger
from agent_sync.task.decision.needs import AskBranch, AskCard, AskClosing, AskGate, AskLookup, AskPull, Question, needs
from agent_sync.task.decision.pr_body import marker
from agent_sync.task.decision.report import report
from agent_sync.task.decision.steps import STEPS, Step

# More rounds than any real task has steps: a mistake of ours must not become an endless loop.
MOST_ROUNDS = 12
ACTOR_LOCK = "actor.lock"
# What others see of a task: before each of these the lease is proven.
FENCED = OpenPull | AdoptPull | MoveCard | CloseTask
# A hook holds the lock for a few requests; only a gate run takes longer.
COMMAND_WAIT = 20.0


@dataclass(frozen=True)
class Looked:
    """What a part of a hook found: whether it had nothing at all to do, and when it will have."""

    was_idle: bool
    due: datetime | None = None
    # Further files whose change gives it something to do, each as `quiet.sight_of` saw it before the look.
    watch: tuple[str, ...] = ()
    # Watched files it has written itself: they are no news.
    wrote: tuple[str, ...] = ()


IDLE = Looked(was_idle=True)
BUSY = Looked(was_idle=False)


def drive(context: Context, trigger: Trigger, *, session_id: str) -> Looked:
    """Bring the claim as far as it goes now; another process at the same claim makes this one step back."""
    claim = context.store.read()
    if claim is None:
        return IDLE
    facts = Facts(clock.now(), context.settings, session_id, context.outbox.told(), gate=_known_gate(context))
    if not needs(trigger, claim, facts) and not decide(trigger, claim, facts):
        # What depends on the session cannot be answered by a stamp that knows none.
        depends_on_session = claim.is_lost or STEPS[trigger][claim.phase] is Step.REMIND
        return Looked(was_idle=not depends_on_session, due=claim.not_before)
    if trigger is Trigger.SYNC:
        with acting_alone(context, "syncing"):
            _rounds(context, trigger, facts)
        return BUSY
    with files.locked_if_free(Path(context.place.state_dir) / ACTOR_LOCK) as is_alone:
        if is_alone:
            _rounds(context, trigger, facts)
    return BUSY


@contextlib.contextmanager
def acting_alone(context: Context, doing: str) -> Iterator[None]:
    """Hold the right to act on this worktree's claim, waiting for a hook that is at it."""
    with files.locked(Path(context.place.state_dir) / ACTOR_LOCK, wait=COMMAND_WAIT, doing=doing):
        yield


def _known_gate(context: Context) -> GateSeen | None:
    """Return what this stop's own gate run already tells."""
    if context.gate_reply is None:
        return None
    from agent_sync.gates.pull import known_from

    return known_from(context, context.gate_reply)


def looked_up(context: Context, trigger: Trigger, claim: Claim) -> Facts:
    """Return what a decision would know now, without acting on it."""
    facts = Facts(clock.now(), context.settings, "", context.outbox.told())
    return _asked(context, trigger, claim, facts)


def _rounds(context: Context, trigger: Trigger, facts: Facts) -> None:
    # Read again under the lock: whoever held it before may have moved the claim.
    claim = context.store.read()
    for _ in range(MOST_ROUNDS):
        if claim is None:
            return
        before = claim
        try:
            facts = _asked(context, trigger, before, facts)
            claim, facts, is_over = _round(context, trigger, claim=before, facts=facts)
        except RateLimited as limit:
            _settle(context, trigger, Paused(limit.until), claim=before, facts=facts)
            return
        except ClaimGone:
            return
        if is_over:
            # Whoever wrote the file meanwhile has stepped back because of us.
            latest = context.store.read()
            if latest == claim:
                return
            claim, facts = latest, facts.outdated()
    context.log.write(facts.now, "rounds-exceeded", trigger=trigger)


def _round(context: Context, trigger: Trigger, *, claim: Claim, facts: Facts) -> tuple[Claim | None, Facts, bool]:
    """Do what is decided, one action after the other; the third value tells that there is no use in going on."""
    actions = decide(trigger, claim, facts)
    now: Claim | None = claim
    is_over = not actions
    for action in actions:
        if now is not None and not is_over:
            now, facts, is_over = _perform(context, trigger, action, claim=now, facts=facts)
    return now, facts, is_over


def _asked(context: Context, trigger: Trigger, claim: Claim, facts: Facts) -> Facts:
    # An answer can make a further question worth asking.
    while questions := needs(trigger, claim, facts):
        for question in questions:
            began, before = time.monotonic(), context.requests
            facts = _answered(context, question, claim, facts)
            _logged(context, type(question).__name__, began, before, trigger=trigger, phase=claim.phase)
    return facts


def _answered(context: Context, question: Question, claim: Claim, facts: Facts) -> Facts:
    match question:
        case AskBranch(branch):
            return _with_receipts(context, replace(facts, branch=_branch(context, branch)))
        case AskGate():
            from agent_sync.gates.pull import gate_seen

            # What the gates have run just now is proven by receipts of their own.
            return _with_receipts(context, replace(facts, gate=gate_seen(context)))
        case AskLookup(branch, issue):
            return replace(facts, lookup=context.gateway.lookup(branch=branch, issue=issue))
        case AskPull(number, with_checks):
            return replace(facts, pull=context.gateway.pull(number, with_checks=with_checks))
        case AskCard(issue):
            return replace(facts, card=context.gateway.card(issue))
        case AskClosing(issue, pull, branch):
            closing = context.gateway.closing(issue=issue, pull=pull, branch=branch, marker=marker(claim))
            return replace(facts, closing=closing)


def _branch(context: Context, branch: str) -> Branch:
    """Return what this clone knows of the branch; one that a pull request must not be opened from is refused."""
    from agent_sync.gates.pull import refuse_committed_claim

    head = context.git.head_of(branch)
    if head:
        refuse_committed_claim(context, branch, head)
    return Branch(head, context.git.current_branch() == branch)


def _perform(
    context: Context, trigger: Trigger, action: Action, *, claim: Claim, facts: Facts
) -> tuple[Claim | None, Facts, bool]:
    began, before = time.monotonic(), context.requests
    outcome = (stopped(context, claim) if isinstance(action, FENCED) else None) or act(action, context, claim)
    after = _settle(context, trigger, outcome, claim=claim, facts=facts)
    phase_after = after.phase if after else "gone"
    _logged(context, type(outcome).__name__, began, before, trigger=trigger, phase=claim.phase, phase_after=phase_after)
    facts = replace(facts, told=context.outbox.told())
    if isinstance(outcome, BranchPushed):
        facts = facts.pushed(outcome.sha)
    elif not isinstance(action, Record | Say):
        facts = facts.outdated()
    # What was refused once would be refused again at once: the next event is early enough.
    return after, facts, isinstance(outcome, PullRefused | CardRefused | LeaseLost | LeftOnHook | LeaseUnknown)


def _settle(context: Context, trigger: Trigger, outcome: Outcome, *, claim: Claim, facts: Facts) -> Claim | None:
    """Put on record what happened: the sentence first, so that a crash in between cannot lose it."""
    if isinstance(outcome, PullOpened | PullAdopted):
        # Why there was none yet is no news any more.
        context.outbox.drop(messages.NEWS_AFTER_HANDOFF)
    if isinstance(outcome, PullReopened):
        context.outbox.forget(messages.NEWS_AFTER_REOPENING)
    context.outbox.add(report(trigger, claim, outcome, facts))
    if isinstance(outcome, ClaimDeleted):
        # While the claim is there a crash is mended by doing this once more.
        _complete_record(context)
    with context.store.locked() as token:
        if isinstance(outcome, ClaimDeleted):
            context.store.delete(token, claim)
            return None
        changed = evolve(claim, outcome)
        return claim if changed == claim else context.store.save(token, seen=claim, changed=changed)


def _with_receipts(context: Context, facts: Facts) -> Facts:
    """Add what is proven about the branch's commit; a record that cannot be read proves nothing."""
    from agent_sync.record import keep as recording

    if facts.branch is None or facts.branch.local_sha is None:
        return facts
    lines: list[str] = []
    head = facts.branch.local_sha
    recording.attempt(context, lambda context: lines.extend(recording.receipt_lines(context, head)))
    return replace(facts, branch=replace(facts.branch, receipts=tuple(lines)))


def _complete_record(context: Context) -> None:
    """Complete the recovery record; trouble with it is told and does not hold the close."""
    from agent_sync.record import keep as recording

    recording.attempt(context, recording.finish)


def _logged(context: Context, what: str, began: float, before: int, **fields: object) -> None:
    took = round((time.monotonic() - began) * 1000)
    context.log.write(clock.now(), what, ms=took, requests=context.requests - before, **fields)
