"""Tells by the rules of the loop whether a look would change nothing but the moment of the last look."""

from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import ChecksNoted, ChecksUnsettled, RecordOutcome
from agent_sync.task.decision.decide import decide
from agent_sync.task.decision.evolve import evolve, report
from agent_sync.task.decision.facts import Facts, Trigger
from agent_sync.task.decision.needs import needs


def is_as_known(claim: Claim, facts: Facts) -> bool:
    """Tell whether a watcher that sees `facts.pull` would ask nothing further, note nothing new and say nothing."""
    if needs(Trigger.REWAKE, claim, facts):
        return False
    match decide(Trigger.REWAKE, claim, facts):
        case (RecordOutcome(ChecksNoted() | ChecksUnsettled() as outcome),):
            after = evolve(claim, outcome)
        case _:
            return False
    kept = {"last_check_poll": claim.last_check_poll, "not_before": claim.not_before}
    is_news = any(notice.id not in facts.told for notice in report(Trigger.REWAKE, claim, outcome, facts))
    is_over = not needs(Trigger.REWAKE, after, facts) and not decide(Trigger.REWAKE, after, facts)
    return after.model_copy(update=kept) == claim and not is_news and is_over
