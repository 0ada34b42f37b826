"""Drives a claim: look, decide, act, save, and look again until nothing is left to do."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from agent_sync.context import Context
from agent_sync.errors import ClaimGone, RateLimited
from agent_sync.hook_event import BUSY, IDLE, EventPart, HookEvent
from agent_sync.quiet import answer as quiet
from agent_sync.system import clock, files
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import (
    Action,
    BranchPushed,
    CardRefused,
    ClaimDeleted,
    LeaseLost,
    LeaseUnknown,
    LeftOnHook,
    Outcome,
    PauseNoted,
    PullAdopted,
    PullOpened,
    PullRefused,
    RecordOutcome,
    Say,
)
from agent_sync.task.decision.decide import decide
from agent_sync.task.decision.facts import Beside, Facts, GateSeen, Trigger, Watched
from agent_sync.task.decision.needs import (
    AskAhead,
    AskBeside,
    AskBranch,
    AskCard,
    AskClosing,
    AskFailures,
    AskGate,
    AskHead,
    AskLookup,
    AskPull,
    Question,
    needs,
    next_look_at,
)
from agent_sync.task.decision.steps import STEPS, PhaseStep
from agent_sync.task.watched import is_watched

if TYPE_CHECKING:
    from agent_sync.gates.answer import GateReply

# More rounds than any real task has steps: a mistake of ours must not become an endless loop.
MOST_ROUNDS = 12
ACTOR_LOCK = "actor.lock"
# A hook holds the lock for a few requests; only a gate run takes longer.
COMMAND_WAIT = 20.0


def part(context: Context, event: HookEvent, gate: "GateReply | None") -> EventPart:
    """The task's part in an event; a prompt that no human typed moves nothing."""
    if event.is_wake_up:
        return BUSY
    if event.trigger is Trigger.IDLE and is_watched(context.place):
        # Should the watcher end without a trace, the first event after a backoff asks again.
        return EventPart(was_idle=True, due=clock.now() + timedelta(seconds=context.settings.checks.backoff_s))
    seen = None
    if gate:
        # What this stop's own gate run already says of a pull request.
        from agent_sync.gates.pull import known_from

        seen = known_from(context, gate)
    return drive(context, event.trigger, session_id=event.session_id, gate=seen)


def drive(context: Context, trigger: Trigger, *, session_id: str, gate: GateSeen | None = None) -> EventPart:
    """Bring the claim as far as it goes now; another process at the same claim makes this one step back.

    `gate` is what the gates have said of the work in this very event.
    """
    claim = context.store.read()
    if claim is None:
        return IDLE
    facts = Facts(clock.now(), context.settings, session_id, context.outbox.known_ids(), gate=gate)
    if nothing := _nothing_to_do(trigger, claim, facts):
        return nothing
    if trigger is Trigger.SYNC:
        with acting_alone(context, "syncing"):
            context.found_beside = _rounds(context, trigger, facts)
        return BUSY
    with files.locked_if_free(Path(context.place.state_dir) / ACTOR_LOCK) as is_alone:
        if is_alone:
            _rounds(context, trigger, facts)
    return _after_look(context, facts) if trigger is Trigger.IDLE and is_alone else BUSY


def _nothing_to_do(trigger: Trigger, claim: Claim, facts: Facts) -> EventPart | None:
    """Return until when an event has nothing to do, if it has nothing to do now."""
    if needs(trigger, claim, facts) or decide(trigger, claim, facts):
        return None
    # What depends on the session cannot be answered by a stamp that knows none.
    asks = trigger is Trigger.SESSION_START or STEPS[trigger][claim.phase] is PhaseStep.REMIND
    return EventPart(was_idle=not (claim.is_lost or asks), due=next_look_at(trigger, claim, facts))


def _after_look(context: Context, facts: Facts) -> EventPart:
    """Return until when idle events have nothing to do after one that has looked: until the backoff is over."""
    # Seen before it is read: whoever writes later is noticed by the next event.
    sight = quiet.sight_of([context.place.claim_file])
    claim = context.store.read()
    facts = replace(facts, now=clock.now(), told=context.outbox.known_ids())
    nothing = claim and _nothing_to_do(Trigger.IDLE, claim, facts)
    return replace(nothing, watch=(sight,), wrote=(context.place.claim_file,)) if nothing else BUSY


@contextlib.contextmanager
def acting_alone(context: Context, doing: str) -> Iterator[None]:
    """Hold the right to act on this worktree's claim, waiting for a hook that is at it."""
    with files.locked(Path(context.place.state_dir) / ACTOR_LOCK, wait=COMMAND_WAIT, doing=doing):
        yield


def look_up_facts(context: Context, trigger: Trigger, claim: Claim) -> Facts:
    """Return what a decision would know now, without acting on it."""
    facts = Facts(clock.now(), context.settings, "", context.outbox.known_ids())
    return _ask_needed(context, trigger, claim, facts)


def _rounds(context: Context, trigger: Trigger, facts: Facts) -> Beside | None:
    """Go on until nothing is left to do; return what was found beside the claim."""
    # Read again under the lock: whoever held it before may have moved the claim.
    claim = context.store.read()
    for _ in range(MOST_ROUNDS):
        if claim is None:
            return None
        before = claim
        try:
            facts = _ask_needed(context, trigger, before, facts)
            claim, facts, is_over = _round(context, trigger, claim=before, facts=facts)
        except RateLimited as limit:
            _settle(context, trigger, PauseNoted(limit.until, clock.now()), claim=before, facts=facts)
            return None
        except ClaimGone:
            return None
        if is_over:
            # Whoever wrote the file meanwhile has stepped back because of us.
            latest = context.store.read()
            if latest == claim:
                return facts.beside
            claim, facts = latest, _without_world(facts)
    context.log.write(facts.now, "rounds-exceeded", trigger=trigger)
    return None


def _round(context: Context, trigger: Trigger, *, claim: Claim, facts: Facts) -> tuple[Claim | None, Facts, bool]:
    """Do what is decided, one action after the other; the third value tells that there is no use in going on."""
    actions = decide(trigger, claim, facts)
    now: Claim | None = claim
    is_over = not actions
    for action in actions:
        if now is not None and not is_over:
            now, facts, is_over = _perform(context, trigger, action, claim=now, facts=facts)
    return now, facts, is_over


def _ask_needed(context: Context, trigger: Trigger, claim: Claim, facts: Facts) -> Facts:
    # An answer can make a further question worth asking.
    while questions := needs(trigger, claim, facts):
        for question in questions:
            began, before = time.monotonic(), context.requests
            facts = _answer_question(context, trigger, question, claim, facts)
            about = {"issue": claim.issue_number, "trigger": trigger, "phase": claim.phase}
            _log_step(context, type(question).__name__, began, before, **about)
    return facts


def _answer_question(  # noqa: PLR0912  # one arm for each question
    context: Context, trigger: Trigger, question: Question, claim: Claim, facts: Facts
) -> Facts:
    match question:
        case AskBranch(branch):
            from agent_sync.gates.pull import branch_seen

            return _with_receipts(context, replace(facts, branch=branch_seen(context, branch)))
        case AskGate():
            from agent_sync.gates.pull import gate_seen

            # What the gates have run just now is proven by receipts of their own.
            return _with_receipts(context, replace(facts, gate=gate_seen(context)))
        case AskLookup(branch, issue):
            return replace(facts, lookup=context.gateway.lookup(branch=branch, issue=issue))
        case AskPull() if context.shared_look and (at := context.shared_look(claim)):
            return replace(facts, unmoved_at=at)
        case AskPull(number, issue):
            # A session is told of its issue again; where a board is asked for, that answer brings it.
            with_text = trigger is Trigger.SESSION_START and context.settings.project.number is None
            from agent_sync.task.decision.drift.comparing import card_to_watch

            watched = Watched(card_to_watch(claim), claim.branch)
            pull = context.gateway.pull(number, with_checks=True, issue=issue, with_text=with_text, watched=watched)
            if pull.brief:
                from agent_sync.task.issue_notes import keep_brief

                keep_brief(context, pull.brief)
            return replace(facts, pull=pull, remote=context.remotes.base)
        case AskHead(branch, sha):
            from agent_sync.system.git_branches import has_had

            return replace(facts, is_head_here=has_had(context.git, branch, sha))
        case AskAhead(branch, sha):
            from agent_sync.system.git_history import is_ahead

            there = sha or context.git.remote_head_of(context.remotes.push, branch)
            return replace(facts, is_ahead=is_ahead(context.git, branch, there))
        case AskBeside(branch):
            if trigger is Trigger.SESSION_START and not context.git.remote_head_of(context.remotes.push, branch):
                # What was never pushed has no pull request: no session waits for that answer.
                return replace(facts, beside=Beside())
            from agent_sync.task.situation_here import pull_beside

            return replace(facts, beside=pull_beside(context, claim))
        case AskFailures(sha, checks):
            from agent_sync.task.failures.reading import read_failures

            return replace(facts, failures=read_failures(context, sha, checks))
        case AskCard(issue):
            return replace(facts, card=context.gateway.card(issue))
        case AskClosing(issue, pull, branch):
            from agent_sync.task.decision.pull_text import claim_marker

            closing = context.gateway.closing(issue=issue, pull=pull, branch=branch, marker=claim_marker(claim))
            return replace(facts, closing=closing)


def _perform(
    context: Context, trigger: Trigger, action: Action, *, claim: Claim, facts: Facts
) -> tuple[Claim | None, Facts, bool]:
    # Only what acts loads what acts: most events find nothing to do.
    from agent_sync.task.act import act_with_lease

    began, before = time.monotonic(), context.requests
    outcome = act_with_lease(action, context, claim)
    after = _settle(context, trigger, outcome, claim=claim, facts=facts)
    phase_after = after.phase if after else "gone"
    about = {"issue": claim.issue_number, "trigger": trigger, "phase": claim.phase, "phase_after": phase_after}
    _log_step(context, type(outcome).__name__, began, before, **about)
    facts = replace(facts, told=context.outbox.known_ids())
    if isinstance(outcome, BranchPushed):
        # Our own push is known: that saves asking again.
        lookup = replace(facts.lookup, remote_sha=outcome.sha, commits_ahead=None) if facts.lookup else None
        facts = replace(facts, lookup=lookup)
    elif not isinstance(action, RecordOutcome | Say):
        facts = _without_world(facts)
    # What was refused once would be refused again at once: the next event is early enough.
    return after, facts, isinstance(outcome, PullRefused | CardRefused | LeaseLost | LeftOnHook | LeaseUnknown)


def _without_world(facts: Facts) -> Facts:
    """Return the facts without what an action on the world has made untrue."""
    facts = replace(facts, pull=None, closing=None, card=None, failures=None, is_head_here=None, unmoved_at=None)
    return replace(facts, branch=None, lookup=None, is_ahead=None, beside=None)


def _settle(context: Context, trigger: Trigger, outcome: Outcome, *, claim: Claim, facts: Facts) -> Claim | None:
    """Put on record what happened: the sentence first, so that a crash in between cannot lose it."""
    from agent_sync.task.decision import messages
    from agent_sync.task.decision.evolve import evolve, report, told_before

    if isinstance(outcome, PullOpened | PullAdopted):
        # Why there was none yet is no news any more.
        context.outbox.drop(messages.NEWS_AFTER_HANDOFF)
    if isinstance(outcome, ClaimDeleted):
        # The question was answered before it could be asked.
        context.outbox.drop(messages.CLOSING_QUESTIONS)
    again = told_before(claim, outcome)
    if again:
        context.outbox.forget(again)
    context.outbox.add(report(trigger, claim, outcome, facts))
    if isinstance(outcome, ClaimDeleted):
        # While the claim is there a crash is mended by doing this once more; trouble here does not hold the close.
        from agent_sync.record import keep as recording
        from agent_sync.record.disk.ending import finish

        recording.attempt(context, finish)
    with context.store.locked() as token:
        if not isinstance(outcome, ClaimDeleted):
            changed = evolve(claim, outcome)
            return claim if changed == claim else context.store.save(token, seen=claim, changed=changed)
        context.store.delete(token, claim)
    # A claim on the same issue that is made later, by hand or not, is a task of its own.
    context.outbox.forget(messages.about_end(claim))
    # Trouble with the branch must not hold the close, so it is left once nothing else is left to do.
    from agent_sync.task.landing import leave_branch

    context.outbox.add(leave_branch(context, claim, outcome.landed))
    return None


def _with_receipts(context: Context, facts: Facts) -> Facts:
    """Add what is proven about the branch's commit; a record that cannot be read proves nothing."""
    from agent_sync.record import keep as recording

    if facts.branch is None or facts.branch.local_sha is None:
        return facts
    lines: list[str] = []
    head = facts.branch.local_sha
    recording.attempt(context, lambda context: lines.extend(recording.receipt_lines(context, head)))
    return replace(facts, branch=replace(facts.branch, receipts=tuple(lines)))


def _log_step(context: Context, what: str, began: float, before: int, **fields: object) -> None:
    took = round((time.monotonic() - began) * 1000)
    context.log.write(clock.now(), what, ms=took, requests=context.requests - before, **fields)
