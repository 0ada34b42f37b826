from dataclasses import replace
from datetime import timedelta

import pytest
from support.claims import NOW, claim
from support.github import CARD, pull

from agent_sync.gates.pull import NO_GATE
from agent_sync.settings import Settings
from agent_sync.task.claim.model import LeaseNote
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision import actions as a
from agent_sync.task.decision.decide import decide
from agent_sync.task.decision.facts import (
    Beside,
    Branch,
    ClosingFacts,
    Facts,
    GateSeen,
    Lookup,
    NoCard,
    PullState,
    Trigger,
)
from agent_sync.task.decision.feedback.checks import CI, CheckRun
from agent_sync.task.decision.needs import AskBeside, AskBranch, AskCard, AskClosing, AskGate, AskLookup, AskPull, needs
from agent_sync.task.decision.pull_text import claim_marker
from agent_sync.task.decision.steps import STEPS, PhaseStep

SHA = "a" * 40
HERE = Branch(SHA, is_current=True)
LOOKUP = Lookup("R_1", "main", SHA, 1, (), CARD)
CLOSING = ClosingFacts("I_42", is_open=True, title="t", has_comment=False, pull=pull(state=PullState.MERGED), card=CARD)
READY = claim(Phase.READY_FOR_PR)
LEASED = READY.model_copy(update={"lease": LeaseNote(where="remote", epoch=1, nonce="n", renewed_at=NOW, ttl_s=3600.0)})
OPEN = claim(Phase.PR_CREATED, pr_number=107, status="In Review", last_synced_status="In Review")
DONE = claim(Phase.DONE, pr_number=107, status="In Review", last_synced_status="In Review")
GREEN = (CheckRun("lint", "SUCCESS"), CheckRun("test", "SUCCESS"))
BEHIND = {"status": "In Review", "last_synced_status": "In Progress"}
ACTING = [Trigger.STOP, Trigger.IDLE, Trigger.REWAKE, Trigger.SYNC]
WATCHING = [Trigger.IDLE, Trigger.REWAKE, Trigger.SYNC]


def facts(**known):
    return Facts(NOW, Settings(), session_id="s1", **known)


def kinds(decided):
    """Name actions by type; what is merely recorded or said, by what it is."""
    names = []
    for action in decided:
        match action:
            case a.RecordOutcome(a.StepWithheld(_, notice)):
                names.append("withheld " + notice.id.split(":")[0])
            case a.RecordOutcome(outcome):
                names.append(type(outcome).__name__)
            case a.Say(notice):
                names.append("say " + notice.id.split(":")[0])
            case _:
                names.append(type(action).__name__)
    return names


@pytest.mark.parametrize("trigger", Trigger)
@pytest.mark.parametrize("phase", Phase)
def test_every_trigger_and_phase_has_a_step(trigger, phase):
    """No combination is left to chance: the table names a step for each."""
    assert isinstance(STEPS[trigger][phase], PhaseStep)


@pytest.mark.parametrize("trigger", Trigger)
def test_coding_in_step_with_the_board_asks_nothing(trigger):
    """While coding, with the board in step, only a person and a session that begins ask for a pull request."""
    asked = (AskBeside(claim().branch),) if trigger in {Trigger.SYNC, Trigger.SESSION_START} else ()
    assert needs(trigger, claim(), facts()) == asked
    assert needs(trigger, claim(), facts(beside=Beside())) == ()
    assert decide(trigger, claim(), facts(beside=Beside())) == ()
    assert decide(trigger, claim(), facts()) == ()


@pytest.mark.parametrize("trigger", [Trigger.SESSION_START, Trigger.TOOL, Trigger.PROMPT])
@pytest.mark.parametrize("phase", [Phase.CODING, Phase.READY_FOR_PR, Phase.PR_CREATED, Phase.DONE])
def test_triggers_that_only_tell_ask_nothing_of_github(trigger, phase):
    """Session start, prompts and tool calls never make the lifecycle act; a session looks at its pull request only."""
    held = claim(phase, **BEHIND)
    assert needs(trigger, held, facts(beside=Beside())) == ()
    assert decide(trigger, held, facts()) == ()


@pytest.mark.parametrize(
    ("trigger", "held", "known", "expected"),
    [
        pytest.param(Trigger.STOP, claim(**BEHIND), {}, [AskCard(42)], id="stop, coding, board behind"),
        pytest.param(Trigger.STOP, READY, {}, [AskBranch(READY.branch), AskGate()], id="stop, ready"),
        pytest.param(Trigger.STOP, claim(Phase.READY_FOR_PR, branch=""), {}, [], id="stop, ready, no branch"),
        pytest.param(Trigger.STOP, claim(Phase.READY_FOR_PR, summary=" "), {}, [], id="stop, ready, no summary"),
        pytest.param(Trigger.STOP, OPEN, {}, [], id="stop, PR open"),
        pytest.param(Trigger.IDLE, OPEN, {}, [AskPull(107, 42)], id="idle, PR open, never polled"),
        pytest.param(Trigger.STOP, DONE, {}, [AskClosing(42, 107, DONE.branch)], id="stop, done"),
        pytest.param(
            Trigger.REWAKE,
            claim(Phase.PR_CREATED, pr_number=107, closed_unmerged=True, last_check_poll=NOW - timedelta(minutes=29)),
            {},
            [],
            id="rewake, closed unmerged: asked every half hour",
        ),
        pytest.param(
            Trigger.STOP,
            claim(Phase.CODING, refused_status="In Review", **BEHIND),
            {},
            [],
            id="without a board a refused status is not tried again",
        ),
        pytest.param(
            Trigger.SYNC,
            claim(Phase.CODING, refused_status="In Review", **BEHIND),
            {"beside": Beside()},
            [AskCard(42)],
            id="unless a person asks",
        ),
    ],
)
def test_questions_are_few(trigger, held, known, expected):
    """Only what the next decision depends on is asked."""
    assert expected == list(needs(trigger, held, facts(**known)))


@pytest.mark.parametrize(
    ("ago", "expected"),
    [
        (timedelta(seconds=119), False),
        (timedelta(seconds=120), True),
        (timedelta(days=400), True),
        (timedelta(seconds=-1), True),
    ],
)
def test_checks_are_polled_every_two_minutes(ago, expected):
    """Inside the backoff nothing is asked; a stamp from the future never stops polling."""
    held = OPEN.model_copy(update={"last_check_poll": NOW - ago})
    assert needs(Trigger.IDLE, held, facts()) == ((AskPull(107, 42),) if expected else ())
    assert needs(Trigger.SYNC, held, facts()) == needs(Trigger.SESSION_START, held, facts()) == (AskPull(107, 42),)


@pytest.mark.parametrize("trigger", ACTING)
@pytest.mark.parametrize("phase", Phase)
def test_paused_asks_nothing(trigger, phase):
    """Until the moment GitHub named, nothing is asked; it is said once."""
    held = claim(phase, not_before=NOW + timedelta(minutes=5), pr_number=107)
    assert needs(trigger, held, facts()) == ()
    decided = decide(trigger, held, facts())
    assert kinds(decided) == ["say paused"]
    assert decide(trigger, held, facts(told=frozenset({decided[0].notice.id}))) == ()


@pytest.mark.parametrize("trigger", ACTING)
@pytest.mark.parametrize(
    ("held", "known", "expected"),
    [
        pytest.param(READY, {"branch": HERE, "gate": NO_GATE, "lookup": LOOKUP}, ["OpenPull"], id="nothing in the way"),
        pytest.param(claim(Phase.READY_FOR_PR, branch=""), {}, ["withheld no-branch"], id="no branch"),
        pytest.param(claim(Phase.READY_FOR_PR, summary="\n"), {}, ["withheld no-summary"], id="no summary"),
        pytest.param(
            READY,
            {"branch": Branch("b" * 40, is_current=True), "gate": NO_GATE, "lookup": LOOKUP},
            ["PushBranch"],
            id="commits not pushed",
        ),
        pytest.param(
            READY,
            {"branch": Branch(None, is_current=False), "gate": NO_GATE, "lookup": LOOKUP},
            ["OpenPull"],
            id="branch only on GitHub",
        ),
        pytest.param(
            READY,
            {"branch": Branch(None, is_current=False), "gate": NO_GATE, "lookup": replace(LOOKUP, remote_sha=None)},
            ["withheld unknown-branch"],
            id="branch nowhere",
        ),
        pytest.param(
            READY,
            {"branch": HERE, "gate": NO_GATE, "lookup": replace(LOOKUP, commits_ahead=0)},
            ["withheld no-commits"],
            id="no commits of its own",
        ),
        pytest.param(
            READY,
            {"branch": HERE, "gate": NO_GATE, "lookup": replace(LOOKUP, pulls=(pull(),))},
            ["AdoptPull"],
            id="open PR",
        ),
        pytest.param(
            READY,
            {"branch": HERE, "gate": NO_GATE, "lookup": replace(LOOKUP, pulls=(pull(state=PullState.MERGED),))},
            ["AdoptPull"],
            id="merged PR of this commit",
        ),
        pytest.param(
            READY,
            {"branch": HERE, "gate": NO_GATE, "lookup": replace(LOOKUP, pulls=(pull(state=PullState.CLOSED),))},
            ["AdoptPull"],
            id="closed PR of this commit",
        ),
        pytest.param(
            READY,
            {
                "branch": HERE,
                "gate": NO_GATE,
                "lookup": replace(LOOKUP, pulls=(replace(pull(state=PullState.MERGED), head_sha="c" * 40),)),
            },
            ["OpenPull"],
            id="somebody's old PR of the same branch",
        ),
        pytest.param(
            READY,
            {
                "branch": HERE,
                "gate": NO_GATE,
                "lookup": replace(
                    LOOKUP, pulls=(replace(pull(state=PullState.MERGED, body=claim_marker(READY)), head_sha="c" * 40),)
                ),
            },
            ["OpenPull"],
            id="merged PR of an earlier round with the same name",
        ),
        pytest.param(
            LEASED,
            {
                "branch": HERE,
                "gate": NO_GATE,
                "lookup": replace(
                    LOOKUP, pulls=(replace(pull(state=PullState.MERGED, body=claim_marker(LEASED)), head_sha="c" * 40),)
                ),
            },
            ["AdoptPull"],
            id="merged PR of this very lease",
        ),
        pytest.param(
            LEASED.model_copy(update={"pr_number": 107}),
            {
                "branch": HERE,
                "gate": NO_GATE,
                "lookup": replace(
                    LOOKUP, pulls=(replace(pull(state=PullState.MERGED, body=claim_marker(LEASED)), head_sha="c" * 40),)
                ),
            },
            ["OpenPull"],
            id="handed off again after the merge",
        ),
        pytest.param(
            READY,
            {
                "branch": Branch("b" * 40, is_current=True),
                "gate": NO_GATE,
                "lookup": replace(LOOKUP, pulls=(pull(state=PullState.CLOSED),)),
            },
            ["PushBranch"],
            id="new commits after a dead PR",
        ),
        pytest.param(
            READY.model_copy(update={"pr_number": 107}),
            {"branch": HERE, "gate": NO_GATE, "lookup": replace(LOOKUP, pulls=(pull(state=PullState.CLOSED),))},
            ["OpenPull"],
            id="handed off again after a close",
        ),
        pytest.param(
            READY,
            {"branch": HERE, "gate": NO_GATE, "lookup": replace(LOOKUP, card=NoCard("no board"))},
            ["OpenPull"],
            id="board trouble does not hold the PR",
        ),
        pytest.param(DONE, {"closing": CLOSING}, ["CloseTask", "DeleteClaim"], id="done and merged"),
        pytest.param(DONE, {"closing": replace(CLOSING, pull=pull())}, ["withheld not-merged"], id="done, PR open"),
        pytest.param(DONE, {"closing": replace(CLOSING, pull=None)}, ["withheld not-merged"], id="done, no PR"),
        pytest.param(
            DONE,
            {"closing": replace(CLOSING, pull=None, is_open=False)},
            ["CloseTask", "DeleteClaim"],
            id="done, issue closed already",
        ),
        pytest.param(
            DONE.model_copy(update={"close_unmerged": True}),
            {"closing": replace(CLOSING, pull=pull())},
            ["CloseTask", "DeleteClaim"],
            id="done --yes",
        ),
        pytest.param(claim(**BEHIND), {"card": CARD}, ["MoveCard"], id="board behind"),
        pytest.param(claim(**BEHIND), {"card": NoCard("gone")}, ["CardRefused"], id="no card"),
        pytest.param(claim(**BEHIND | {"status": "Nope"}), {"card": CARD}, ["CardRefused"], id="no such status"),
        pytest.param(claim(**BEHIND), {"card": replace(CARD, is_archived=True)}, ["CardRefused"], id="archived card"),
        pytest.param(claim(Phase.MERGED_DETECTED, pr_number=107), {}, [], id="the question is asked already"),
    ],
)
def test_what_is_done_at_every_acting_trigger(trigger, held, known, expected):
    """Stop, idle and sync decide alike: what one could not do, the next does."""
    assert expected == kinds(decide(trigger, held, facts(**known)))


@pytest.mark.parametrize("trigger", WATCHING)
@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(pull(state=PullState.MERGED), ["PullMerged"], id="merged"),
        pytest.param(pull(state=PullState.CLOSED), ["PullClosed"], id="closed"),
        pytest.param(pull(checks=()), ["ChecksNoted"], id="no checks yet"),
        pytest.param(pull(checks=GREEN), ["ChecksNoted"], id="green"),
        pytest.param(pull(checks=(*GREEN, CheckRun("slow", "IN_PROGRESS"))), ["ChecksUnsettled"], id="running"),
        pytest.param(pull(checks=(*GREEN, CheckRun("bad", "FAILURE"))), ["ChecksUnsettled"], id="failed"),
        pytest.param(pull(checks=None, checks_note="no permission"), ["ChecksNoted"], id="checks cannot be seen"),
        pytest.param(pull(checks=None), [], id="inside the backoff"),
        pytest.param(pull(is_conflicting=True), ["FeedbackNoted", "say conflict"], id="conflict"),
        pytest.param(
            pull(changes_requested_by=("mona",), review_id="7"),
            ["FeedbackNoted", "say changes"],
            id="changes requested",
        ),
    ],
)
def test_what_is_seen_while_watching(trigger, seen, expected):
    """Each state of the pull request leads to its own record or sentence."""
    assert expected == kinds(decide(trigger, OPEN, facts(pull=seen)))


GATE = GateSeen("failed", "1 of 1 gate failed: lint.", may_open=False, is_configured=True, summary="Gates: Failed")
PASSED = GateSeen("passed", "1 gate passed.", may_open=True, is_configured=True, summary="Gates: Passed")


@pytest.mark.parametrize(
    ("held", "gate", "branch", "expected"),
    [
        (READY, PASSED, HERE, ["OpenPull"]),
        (READY, GATE, HERE, ["withheld gate"]),
        (READY, PASSED, Branch(SHA, is_current=False), ["withheld gate"]),
        (READY, replace(PASSED, may_open=False), HERE, ["withheld gate"]),
        (READY.model_copy(update={"draft": True}), GATE, HERE, ["OpenPull"]),
        (READY, replace(GATE, is_configured=False), HERE, ["OpenPull"]),
    ],
    ids=["passed", "failed", "another branch is checked out", "passed uncommitted", "draft", "gate off"],
)
def test_gate_keeps_the_pull_request_back(held, gate, branch, expected):
    """Without a pass of what is committed on the branch no pull request is opened, except as a draft."""
    known = facts(branch=branch, gate=gate, lookup=LOOKUP)
    decided = decide(Trigger.STOP, held, known)
    assert expected == kinds(decided)
    if expected == ["OpenPull"] and gate.summary:
        assert gate.summary in decided[0].body


def test_gate_is_asked_before_github():
    """Work that the gate keeps back costs no request."""
    assert needs(Trigger.STOP, READY, facts(branch=HERE, gate=GATE)) == ()
    assert (AskLookup(READY.branch, 42),) == needs(Trigger.STOP, READY, facts(branch=HERE, gate=PASSED))


def test_old_merge_of_a_branch_used_again_is_no_merge_of_this_task():
    """Without a number, only a merged pull request with this claim's marker counts as this task's."""
    lost = DONE.model_copy(update={"pr_number": None})
    foreign = replace(CLOSING, pull=pull(9, PullState.MERGED))
    assert kinds(decide(Trigger.STOP, lost, facts(closing=foreign))) == ["withheld not-merged"]
    own = replace(CLOSING, pull=pull(9, PullState.MERGED, body=claim_marker(lost)))
    assert kinds(decide(Trigger.STOP, lost, facts(closing=own))) == ["CloseTask", "DeleteClaim"]


def test_recorded_once():
    """A look that tells nothing new is not recorded again."""
    polled = decide(Trigger.IDLE, OPEN, facts(pull=pull(checks=GREEN)))[0].outcome
    assert CI.GREEN is polled.verdict.ci
    closed = OPEN.model_copy(update={"closed_unmerged": True, "last_check_poll": NOW})
    assert decide(Trigger.IDLE, closed, facts(pull=pull(state=PullState.CLOSED))) == ()
    assert kinds(decide(Trigger.IDLE, closed, facts(pull=pull()))) == ["PullReopened"]


def test_claim_without_its_number_finds_the_pull_request():
    """A phase that speaks of a PR without a number is mended by looking, not silent for ever."""
    lost = claim(Phase.PR_CREATED)
    assert (AskLookup(lost.branch, 42),) == needs(Trigger.IDLE, lost, facts())
    assert kinds(decide(Trigger.IDLE, lost, facts(lookup=replace(LOOKUP, pulls=(pull(),))))) == ["AdoptPull"]
    assert kinds(decide(Trigger.IDLE, lost, facts(lookup=LOOKUP))) == ["say no-pr"]


@pytest.mark.parametrize(
    ("closing", "comment", "close"),
    [
        (CLOSING, "Completed in #107", True),
        (replace(CLOSING, has_comment=True), None, True),
        (replace(CLOSING, is_open=False), None, False),
    ],
    ids=["all missing", "comment there", "closed already"],
)
def test_only_what_is_missing_is_done_when_closing(closing, comment, close):
    """A repeated close neither comments nor closes a second time."""
    order = decide(Trigger.STOP, DONE, facts(closing=closing))[0]
    assert close is order.close
    assert (order.comment or "").split("\n")[0] == (comment or "")
    assert (order.change.status, order.change.agent) == ("Done", "")


def test_merge_question_is_repeated_with_the_next_prompt_once():
    """The question comes again with the next prompt of a session, once."""
    held = claim(Phase.MERGED_DETECTED, pr_number=107)
    decided = decide(Trigger.PROMPT, held, facts())
    assert kinds(decided) == ["say merged-reminder"]
    assert decide(Trigger.PROMPT, held, facts(told=frozenset({decided[0].notice.id}))) == ()
