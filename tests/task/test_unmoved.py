"""When a look that several claims share has nothing for a claim: only where a look of its own would change nothing."""

from dataclasses import replace
from datetime import timedelta

import pytest
from support.claims import NOW
from support.github import pull
from support.situations import GREEN_CHECKS, opened

from agent_sync.settings import Settings
from agent_sync.task.claim.drift_seen import DriftSeen
from agent_sync.task.decision.evolve import report
from agent_sync.task.decision.facts import Facts, IssueSeen, PullState, Trigger
from agent_sync.task.decision.feedback.checks import CheckRun
from agent_sync.task.decision.feedback.decide_feedback import decide_checks
from agent_sync.task.decision.feedback.unmoved import is_as_known

PASSED = (CheckRun("a", "SUCCESS"), CheckRun("b", "SUCCESS"))
LOOKED = NOW - timedelta(seconds=121)
KNOWN = {"last_check_poll": LOOKED, "checks": GREEN_CHECKS}


def seen(**fields):
    """Return what is known when a shared look shows a pull request; the green checks were told."""
    found = replace(pull(45, checks=PASSED), **fields)
    facts = Facts(NOW, Settings(), pull=found)
    claim = opened(**KNOWN)
    [recorded] = decide_checks(claim, facts, pull(45, checks=PASSED))
    told = frozenset(notice.id for notice in report(Trigger.REWAKE, claim, recorded.outcome, facts))
    return Facts(NOW, Settings(), told=told, pull=found)


def test_the_same_as_before_is_no_news():
    """Checks as noted and told, nothing else to say: the look is only noted."""
    assert is_as_known(opened(**KNOWN), seen())


MOVED = {
    "a check failed": ({}, {"checks": (CheckRun("a", "FAILURE"), CheckRun("b", "SUCCESS"))}),
    "a check is new": ({}, {"checks": (*PASSED, CheckRun("c", "SUCCESS"))}),
    "pushed": ({}, {"head_sha": "f" * 40}),
    "merged": ({}, {"state": PullState.MERGED}),
    "closed": ({}, {"state": PullState.CLOSED}),
    "changes requested": ({}, {"changes_requested_by": ("mona",)}),
    "a conflict": ({}, {"is_conflicting": True}),
    "the issue was closed": ({}, {"issue": IssueSeen(is_open=False)}),
    "never looked at the checks": ({"checks": None}, {}),
    "the board is behind": ({"status": "In Review", "last_synced_status": "In Progress"}, {}),
    "somebody else's head": ({"drift": DriftSeen(foreign_head="a" * 40)}, {}),
}


@pytest.mark.parametrize(("fields", "found"), MOVED.values(), ids=MOVED)
def test_whatever_else_is_worth_a_look(fields, found):
    """Anything that would be noted, asked or said makes the claim's own watcher look."""
    assert not is_as_known(opened(**KNOWN | fields), seen(**found))


def test_what_was_never_said_is_news():
    """Checks that are noted and of which nobody was told are looked at by the claim's own watcher."""
    assert not is_as_known(opened(**KNOWN), Facts(NOW, Settings(), pull=pull(45, checks=PASSED)))
