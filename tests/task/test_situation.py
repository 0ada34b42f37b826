"""How a task stands, and what every view says of it."""

from typing import get_args

import pytest
from support.claims import NOW
from support.records import at_step
from support.situations import CASES

from agent_sync.cli.telling import next_line, situation_values
from agent_sync.events.parts.briefing import head_line
from agent_sync.events.statusline import WORDS, line_of
from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.states import RecordMove
from agent_sync.record.page.next_steps import situation_of_record, to_do, with_claim
from agent_sync.task.decision.next_step import next_step
from agent_sync.task.decision.situation import situation
from agent_sync.task.decision.situations import (
    Ahead,
    Crashed,
    Free,
    LeaseUnverified,
    PullFound,
    Recorded,
    RecordStage,
    Situation,
    Unclaimed,
    Unusable,
    WaitingForHuman,
)

HELD = {name: case for name, case in CASES.items() if case.claim}
# What the claim file remembers, and so every view knows without asking.
KNOWN_HERE = {
    name: case
    for name, case in HELD.items()
    if (case.known.pull, case.known.lease, case.known.issue, case.known.is_head_here) == (None,) * 4
}
STANDS = [*(case.expected for case in CASES.values()), Unusable("no JSON")]
BANNED = ("goes on", "cannot be told", "is no ", "anew", "stumble", "lies by", "at it")


@pytest.mark.parametrize("name", CASES)
def test_situation(name):
    """Claim, lease, record and what was seen on GitHub lead to one situation."""
    case = CASES[name]
    assert situation(case.claim, case.record, NOW, case.known) == case.expected


def test_every_situation_is_tried_here():
    """A new situation must be added to the cases."""
    assert {type(stands) for stands in STANDS} == set(get_args(Situation))


@pytest.mark.parametrize("stands", STANDS, ids=lambda stands: type(stands).__name__)
def test_next_step_is_said_in_plain_words(stands):
    """Each situation has a sentence; the command is one of ours, or nothing is to be typed."""
    step = next_step(stands)
    assert step.sentence[:1].isupper() or step.sentence.startswith('"mona"')
    assert step.sentence.endswith((".", "!", "?", ": agent-sync push"))
    assert not any(words in step.sentence for words in BANNED)
    assert step.command.startswith("agent-sync ") or step.command == ""
    assert situation_values(stands)["command"] == step.command


@pytest.mark.parametrize("name", HELD)
def test_session_start_and_status_say_the_sentence_and_the_command(name):
    """The first line of session start, `status` and `sync` ends with the sentence, the last names the command."""
    case = HELD[name]
    step = next_step(case.expected)
    assert head_line(case.claim, case.expected).endswith(f". {step.sentence}")
    assert next_line(case.expected) == (f"Next: {step.command}" if step.command else "Next: nothing to type")


def told(case):
    """Return a record that was told of the claim, in the state that the case is about."""
    record = at_step("implement", "claim-to-close").model_copy(update={"issue_number": 42, "updated_at": NOW})
    if isinstance(case.expected, WaitingForHuman):
        record = with_move(record, RecordMove.MANUAL_REQUIRED, NOW, reason=case.expected.waiting_for)
    if isinstance(case.expected, Crashed):
        record = with_move(record, RecordMove.CRASH_DETECTED, NOW)
        record = record.model_copy(update={"recovery": recovery(case.expected.advice)})
    return with_claim(record, case.claim, is_ahead=case.known.is_ahead)


def recovery(reason):
    """Return what was found out after a crash."""
    from agent_sync.record.machine.model import Recovery
    from agent_sync.record.machine.states import CrashType, RecordState, RecoveryAdvice

    return Recovery(
        detected_at=NOW,
        crash_type=CrashType.SIGNAL,
        last_known_state=RecordState.STEP_RUNNING,
        was_validating=False,
        recommended_action=RecoveryAdvice.RETRY_STEP,
        reason=reason,
    )


@pytest.mark.parametrize("name", KNOWN_HERE)
def test_hook_md_agrees(name):
    """HOOK.md, made from hook.json alone, knows the same situation and names the same command."""
    case = KNOWN_HERE[name]
    record = told(case)
    expected = case.expected
    if isinstance(expected, WaitingForHuman | Crashed):
        assert type(situation_of_record(record)) is type(expected)
    else:
        assert situation_of_record(record) == expected
    command = next_step(expected).command
    assert not command or f"`{command}`" in "\n".join(to_do(record))


def test_hook_md_knows_that_the_claim_is_gone():
    """A record whose claim file is gone leads back to the claim, not on with the work."""
    record = told(CASES["coding"])
    assert situation_of_record(with_claim(record, None, is_ahead=False)) == Unclaimed("fix-null-pointer", 42)
    assert "`agent-sync claim 42`" in "\n".join(to_do(with_claim(record, None, is_ahead=False)))


@pytest.mark.parametrize("name", KNOWN_HERE)
def test_status_line_agrees(name):
    """The status line has the words of the same situation; only what git must be asked for it does not know."""
    case = KNOWN_HERE[name]
    stands = situation(case.claim, case.record, NOW) if isinstance(case.expected, Ahead) else case.expected
    interrupted = isinstance(stands, WaitingForHuman | Crashed)
    pointer = f"workspace/task\n{type(stands).__name__ if interrupted else ''}\n"
    line = line_of(case.claim.to_json().replace(b"2026-11-16T12:05", b"2999-11-16T12:05"), pointer.encode())
    assert line.startswith("#42")
    assert WORDS[type(stands).__name__] in line
    others = {words for name, words in WORDS.items() if name != type(stands).__name__ and words}
    assert not any(line.endswith(f" · {words}") for words in others - {WORDS[type(stands).__name__]})


def test_every_situation_of_a_claim_has_words_in_the_status_line():
    """No situation is forgotten: the rest needs git or the remote to be known, or holds no claim."""
    unseen = {Free, Unusable, Unclaimed, Recorded, PullFound, Ahead, LeaseUnverified}
    assert set(WORDS) == {kind.__name__ for kind in get_args(Situation) if kind not in unseen}


def test_stages_of_a_recorded_task_have_a_command():
    """Whatever stage a task without GitHub is in, something leads on."""
    assert all(next_step(Recorded("t", stage, "s", "agent-sync validate -- x")).command for stage in RecordStage)
