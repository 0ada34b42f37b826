"""Actions that are taken only where they change something: a sentence is said once, a sight is recorded once."""

from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import Action, Outcome, RecordOutcome, Say
from agent_sync.task.decision.evolve import evolve
from agent_sync.task.decision.facts import Facts, Trigger
from agent_sync.task.decision.notice import Notice, for_session


def record_change(claim: Claim, outcome: Outcome) -> tuple[Action, ...]:
    """Record what was seen, if the claim does not say so already."""
    return (RecordOutcome(outcome),) if evolve(claim, outcome) != claim else ()


def say_once(facts: Facts, notice: Notice) -> tuple[Action, ...]:
    """Say what was not said yet."""
    return () if notice.id in facts.told else (Say(notice),)


def say_now(trigger: Trigger, facts: Facts, notice: Notice) -> tuple[Action, ...]:
    """Say it once; a session that begins is told what an earlier one was told."""
    if trigger is not Trigger.SESSION_START:
        return say_once(facts, notice)
    return tuple(action for one in for_session(notice, facts.session) for action in say_once(facts, one))
