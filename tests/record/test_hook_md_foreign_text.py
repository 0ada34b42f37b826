"""No foreign text changes what HOOK.md is made of."""

import re
from collections import Counter

import pytest
from hypothesis import example, given, strategies as st
from markdown_it import MarkdownIt
from support.records import NASTY, NOW, after, at_step, rich_record

from agent_sync.record.machine.model import Record, Recovery
from agent_sync.record.machine.states import CrashType, RecordMove, RecordState, RecoveryAdvice
from agent_sync.record.page.render import UNSIGNED, VALID, render
from agent_sync.task.decision.outside_text import code

VERDICTS = {"rcpt-001": VALID, "rcpt-002": "the signature does not fit what it signs", "rcpt-003": UNSIGNED}

# Markdown as GitHub reads it, tables and struck text included; the links that need no brackets are told by their text.
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def shape(text: str) -> list[str]:
    """Return how Markdown understands a text: every part of it but the words."""
    return [
        kind
        for token in MARKDOWN.parse(text)
        for kind in (token.type + token.tag, *(child.type for child in token.children or () if child.type != "text"))
    ]


def begins(text: str) -> Counter[str]:
    """Count how the lines outside of blocks of code begin, for readers that know no Markdown."""
    counted: Counter[str] = Counter()
    fence = ""
    for line in text.split("\n"):
        ticks = re.match("`{3,}", line)
        if fence or ticks:
            fence = "" if line == fence else fence or (ticks.group() if ticks else "")
        else:
            counted[re.sub(r"\d+", "1", line[:2])] += 1
    return counted


def states(text: str | None) -> list[Record]:
    """Return records in which HOOK.md says each of the things it can say."""
    why = text if text is not None else "reason"
    base = rich_record(text)
    # The commits that were on the branch are named too.
    found = base.checkpoints[0].model_copy(update={"artifacts": (why,)})
    base = base.model_copy(update={"checkpoints": (found, *base.checkpoints[1:])})
    recovery = {
        "detected_at": NOW,
        "crash_type": CrashType.SIGNAL,
        "last_known_state": RecordState.STEP_RUNNING,
        "was_validating": False,
        "reason": why,
        "validation_cmd": why,
    }
    crashed = after(base, RecordMove.CRASH_DETECTED)
    advices = [
        crashed.model_copy(
            update={
                "recovery": Recovery.model_validate(
                    {**recovery, "recommended_action": action, "last_checkpoint_id": point}
                )
            }
        )
        for action in RecoveryAdvice
        for point in ("", why)
    ]
    waiting = base.model_copy(update={"state": RecordState.AWAITING_HUMAN, "waiting_for": why})
    return [base, waiting, crashed, *advices, after(base, RecordMove.STEP_OUTPUT), after(base, RecordMove.STEP_FAILED)]


USUAL = [(shape(text), begins(text)) for text in (render(record, VERDICTS) for record in states("x"))]
STRANGE = st.text(
    alphabet=st.sampled_from("`|#-*_>\\[]()<!~@:&1.+= \t\n\r\x0b\x85\u2028\x1bax"), min_size=1, max_size=60
)
ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@given(STRANGE | ANY, st.integers(0, len(USUAL) - 1))
@example("|\n|-|\n|x|", 0)
@example("``` \n```", 0)
@example("\\", 0)
def test_foreign_text_adds_nothing(text, number):
    """Whatever is in prompts, outputs, subjects, names and commands, the file's structure stays the same."""
    written = render(states(text)[number], VERDICTS | {"rcpt-002": text})
    assert (shape(written), begins(written)) == USUAL[number]


@pytest.mark.parametrize("number", range(len(USUAL)))
def test_the_worst_of_foreign_text_adds_nothing(number):
    """Everything that Markdown, a table or a terminal obeys, in each of the things the file can say."""
    written = render(states(NASTY)[number], VERDICTS | {"rcpt-002": NASTY})
    assert (shape(written), begins(written)) == USUAL[number]


def test_foreign_names_in_tables_and_headings():
    """Steps and templates may have names of the user's own, and they stay names."""
    record = after(at_step("plan"), RecordMove.STEP_COMPLETE, RecordMove.START_STEP)
    steps = tuple(step.model_copy(update={"name": NASTY, "receipt_id": NASTY}) for step in record.steps)
    assert record.current_step is not None
    step = record.current_step.model_copy(update={"step_name": NASTY})
    changes = {"steps": steps, "current_step": step, "template": NASTY, "task_id": NASTY, "resumed_from": NASTY}
    plain = {**changes, "steps": tuple(one.model_copy(update={"name": "+", "receipt_id": "+"}) for one in steps)}
    plain |= {"current_step": step.model_copy(update={"step_name": "+"})}
    plain |= dict.fromkeys(("template", "task_id", "resumed_from"), "+")
    nasty = render(record.model_copy(update=changes), {})
    assert shape(nasty) == shape(render(record.model_copy(update=plain), {}))


def test_half_a_character_can_be_written():
    """Text that is not valid, as names of files may be, does not keep the file from being written."""
    record = rich_record().model_copy(update={"branch": "half \ud800", "worktree": "/src/\udcff"})
    assert render(record, {"rcpt-001": "\udcff"}).encode()


@pytest.mark.parametrize("text", ["", "`", "``", "a`b", "`a", "a``", NASTY])
def test_code_is_one_span(text):
    """Code holds its text whatever that is."""
    (inline,) = [token for token in MARKDOWN.parse(f"{code(text)} end") if token.type == "inline"]
    assert [child.type for child in inline.children or ()] == ["code_inline", "text"]
