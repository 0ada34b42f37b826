import json

import pytest

from agent_sync.events.exchange import Reply, readers_of, render
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.outbox import Readers

SHAPES = [trigger for trigger in Trigger if trigger not in {Trigger.REWAKE, Trigger.SYNC}]
NAMES = ["Stop", "Notification", "SessionStart", "UserPromptSubmit", "PostToolUse"]


@pytest.mark.parametrize(("trigger", "name"), list(zip(SHAPES, NAMES, strict=True)))
def test_shape(trigger, name):
    """The human's text is a systemMessage, the agent's is context under the event's own name; nothing else."""
    reply = json.loads(render(trigger, Reply(("to the human",), ("to the agent", "and more"))))
    assert reply == {
        "systemMessage": "to the human",
        "hookSpecificOutput": {"hookEventName": name, "additionalContext": "to the agent\nand more"},
    }


def test_silence_is_no_output():
    """Nothing to say is nothing on stdout, not an empty object."""
    assert render(Trigger.STOP, Reply()) == ""


def test_same_sentence_is_said_once():
    """Two parts that say the same are heard once."""
    assert json.loads(render(Trigger.STOP, Reply(("a", "a"))))["systemMessage"] == "a"


def test_long_context_is_cut_before_the_client_hides_it():
    """Context stays below the size above which the client moves it into a file."""
    text = json.loads(render(Trigger.PROMPT, Reply((), ("x" * 50_000,))))["hookSpecificOutput"]["additionalContext"]
    assert len(text) < 10_000


@pytest.mark.parametrize(
    ("trigger", "is_continuation", "later", "expected"),
    [
        (Trigger.STOP, False, False, Readers(human=True, agent=True, patient=False)),
        (Trigger.STOP, True, False, Readers(human=True, agent=False, patient=False)),
        (Trigger.STOP, False, True, Readers(human=True, agent=False, patient=False)),
        (Trigger.PROMPT, False, True, Readers(human=True, agent=True)),
        (Trigger.IDLE, False, False, Readers(human=True, agent=True)),
        (Trigger.TOOL, False, False, Readers(human=False, agent=False)),
    ],
)
def test_who_is_reached(trigger, is_continuation, later, expected):
    """A stop inside a continued turn, or with `later`, says nothing to the model at once."""
    assert expected == readers_of(trigger, is_continuation=is_continuation, later=later)


@pytest.mark.parametrize("trigger", [Trigger.SESSION_START, Trigger.PROMPT])
def test_human_without_a_terminal_is_told_at_the_stop(trigger):
    """`claude -p` shows the human what a stop says, and nothing that was said before."""
    assert not readers_of(trigger, is_continuation=False, later=False, is_attended=False).human
    assert readers_of(Trigger.STOP, is_continuation=False, later=False, is_attended=False).human
