"""HOOK.md and the synopsis."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from support.records import (
    NASTY,
    NOW,
    WAYS,
    after,
    at_step,
    fresh_record,
    receipt,
    rich_record,
    with_checkpoint,
    with_receipt,
)

from agent_sync import __version__
from agent_sync.record.crash.advice import Circumstances, diagnosis, with_crash
from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.progress import Goal, record_at_goal
from agent_sync.record.machine.states import GATES, TERMINAL, OwnerStanding, RecordMove, RecordState
from agent_sync.record.page.render import UNSIGNED, VALID, length, render
from agent_sync.record.page.session_text import synopsis

GOLDEN = Path(__file__).parents[1] / "fixtures" / "recovery" / "HOOK.md"
VERDICTS = {"rcpt-001": VALID, "rcpt-002": "the signature does not fit what it signs", "rcpt-003": UNSIGNED}
HEADINGS = [
    "# ATLAS Task Recovery Hook",
    "## Current State",
    "## What You Were Doing",
    "### Files You Modified",
    "### Last Checkpoint",
    "### Your Last Output",
    "## What To Do Now",
    "### ✅ RESUME",
    "### ❌ DO NOT:",
    "## Completed Steps (DO NOT REPEAT)",
    "## Checkpoints Timeline",
    "## Validation Receipts",
    "### Receipt",
    "### Receipt",
    "### Receipt",
    "### Receipt",
    "## If Something Is Wrong",
]


def test_hook_md_of_a_rich_record():
    """The whole file, as it is read by an agent that remembers nothing."""
    assert render(rich_record(), VERDICTS) == GOLDEN.read_text(encoding="utf-8").replace("VERSION", __version__)


def test_headings_are_those_of_the_specification():
    """The headings come in the documented order."""
    found = [line for line in render(rich_record(), VERDICTS).splitlines() if line.startswith("#")]
    assert len(found) == len(HEADINGS)
    assert all(line.startswith(heading) for line, heading in zip(found, HEADINGS, strict=True))


def test_every_time_is_absolute():
    """Nothing is "ago": the file is read long after it was written."""
    text = render(rich_record(), VERDICTS)
    assert not re.search(r"\bago\b|just now", text)
    assert "**Last Updated:** 2026-01-17T14:30:22Z\n" in text


# What verification found: what is shown in the table and in the receipt's block.
SHOWN = {
    "valid": (VALID, "`rcpt-001` ✓ |", "Signature: VALID ✓ (verified with HD key m/44'/236'/0'/0'/0')"),
    "invalid": ("changed", "`rcpt-001` ✗ INVALID |", "Signature: INVALID ✗ changed"),
    "unsigned": (UNSIGNED, "`rcpt-001` UNSIGNED |", "Signature: UNSIGNED"),
    "not looked at": (None, "`rcpt-001` not verified |", "Signature: NOT VERIFIED"),
}


@pytest.mark.parametrize(("verdict", "cell", "line"), SHOWN.values(), ids=SHOWN)
def test_receipts_show_what_verification_found(verdict, cell, line):
    """A signature is called valid only if it was verified."""
    text = render(rich_record(), {"rcpt-001": verdict} if verdict else {})
    assert cell in text
    assert line in text
    assert text.count("✓") == (2 if verdict == VALID else 0)


def test_a_failed_command_is_never_shown_as_a_pass():
    """A valid receipt of a failure says so where the step is listed."""
    record = rich_record()
    steps = (record.steps[0].model_copy(update={"receipt_id": "rcpt-003"}), *record.steps[1:])
    assert "`rcpt-003` ✓, exit code 2" in render(record.model_copy(update={"steps": steps}), {"rcpt-003": VALID})


GONE = Circumstances(OwnerStanding.GONE, NOW, stale_s=300, max_recoveries=3)

# Where the task stands: what the file tells to do.
TOLD = {
    "setup": (fresh_record(), "### ✅ START: Set the task up"),
    "pending": (after(fresh_record(), RecordMove.SETUP_COMPLETE), "### ✅ START: Begin the `analyze` step"),
    "running": (at_step("implement"), "### ✅ RESUME: Continue the `implement` step"),
    "validating": (
        after(at_step("plan"), RecordMove.STEP_OUTPUT),
        "### ✅ VALIDATE: Finish the validation of the `plan` step",
    ),
    "waiting": (with_move(at_step("plan"), RecordMove.MANUAL_REQUIRED, NOW, reason="who?"), "1. Waiting for: `who?`"),
    "waiting for the merge": (
        record_at_goal(at_step("merge", "claim-to-close"), Goal("merge", waits="PR #45"), NOW),
        "3. CI passed on the PR; leave the merge to a human (`agent-sync sync`)",
    ),
    "waiting for consent": (
        record_at_goal(at_step("close", "claim-to-close"), Goal("close", waits="a human decides"), NOW),
        "3. The PR is merged; a human decides with `/done` whether issue #1 is closed (`agent-sync done`)",
    ),
    "waiting after failing gates": (
        with_move(at_step("implement", "claim-to-close"), RecordMove.MANUAL_REQUIRED, NOW, reason="the gates failed"),
        "3. Their answer in this session resumes the task, and so does their `agent-sync resume`",
    ),
    "validating by a command": (
        with_move(at_step("plan"), RecordMove.STEP_OUTPUT, NOW, command="make test"),
        "2. Run `agent-sync validate`: it runs `make test` again",
    ),
    "validating by the gates": (
        with_move(at_step("implement", "claim-to-close"), RecordMove.STEP_OUTPUT, NOW, command=GATES),
        "2. Run `agent-sync validate`: it runs the gates",
    ),
    "validating by nobody knows what": (
        after(at_step("plan"), RecordMove.STEP_OUTPUT),
        "2. Run `agent-sync validate -- CMD`",
    ),
    "retry": (at_step("plan"), "### ✅ RETRY: Begin the `plan` step again"),
    "retry before setup": (fresh_record(), "### ✅ RETRY: Begin the first step again"),
    "resume": (
        with_checkpoint(at_step("implement")),
        "### ✅ RESUME: Continue the `implement` step from checkpoint `ckpt-00000000`",
    ),
    "validate again": (
        with_move(at_step("plan"), RecordMove.STEP_OUTPUT, NOW, command="make test"),
        "2. Run `agent-sync validate`: it runs `make test` again",
    ),
    "manual": (at_step("implement"), "### ✅ WAIT: A human must act"),
    "claim handed off": (
        at_step("validate", "claim-to-close"),
        "3. The PR will be opened when this turn ends (`agent-sync sync`)",
    ),
    "claim at work": (
        at_step("implement", "claim-to-close"),
        "Keep working; run `/handoff` when it is ready for a PR (`agent-sync handoff`)",
    ),
}
AFTER_A_CRASH = {"retry", "retry before setup", "resume", "validate again", "manual"}


@pytest.mark.parametrize("name", TOLD)
def test_what_to_do_now(name):
    """Each state and each advice has its own instructions."""
    record, line = TOLD[name]
    if name in AFTER_A_CRASH:
        recovery = diagnosis(record, GONE)
        assert recovery is not None
        record = with_crash(record, recovery, NOW)
    assert line in render(record, {})


def test_skipping_names_the_next_step():
    """A step that is proven done leads on to the next, the last one to the end."""
    found = Circumstances(OwnerStanding.GONE, NOW, 300, 3, valid_receipts=frozenset({"rcpt-001"}), tree="7" * 40)
    for name, line in {"plan": "the next step: `implement`", "pull_request": "It was the last step"}.items():
        record = with_receipt(at_step(name))
        recovery = diagnosis(record, found)
        assert recovery is not None
        assert line in render(with_crash(record, recovery, NOW), {})


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_an_ended_task_has_nothing_to_do(state):
    """Nobody resumes a task that has ended because its file is still there."""
    text = render(rich_record().model_copy(update={"state": state}), VERDICTS)
    assert f"> This task is {state}: there is nothing to do." in text
    assert "RESUME" not in text


def test_do_not_names_what_is_there_already():
    """Completed steps, the branch and the pull request are not made a second time."""
    text = render(rich_record(), VERDICTS)
    told = text.split("### ❌ DO NOT:\n")[1].split("\n\n")[0].splitlines()
    assert told == [
        "- Start over from the beginning",
        "- Repeat `analyze` (already done in step 1)",
        "- Repeat `plan` (already done in step 2)",
        "- Recreate the branch (already exists: `fix/null-pointer`)",
        "- Open another pull request (already done: `PR #45: Fix it`)",
        "- Edit `hook.json` or this file: both are written by agent-sync",
    ]


def test_long_lists_are_cut_and_say_so():
    """A file that is read at every start stays short."""
    record = with_checkpoint(at_step("implement"), artifacts=tuple(f"{n:07x} Commit {n}" for n in range(13, 0, -1)))
    for _ in range(30):
        record = with_checkpoint(record)
    assert record.current_step is not None
    step = record.current_step.model_copy(
        update={"files_touched": tuple(f"f{n}" for n in range(60)), "max_attempts": 0}
    )
    made = tuple(receipt(record, receipt_id=f"rcpt-{n}") for n in range(12))
    changes = {"current_step": step, "checkpoints_total": 90, "receipts": made, "receipts_total": 12}
    text = render(record.model_copy(update=changes), {})
    assert "### Commits Found On The Branch\n- `000000d Commit 13`\n- `000000c Commit 12`\n" in text
    assert "- `0000004 Commit 4`\n- and 3 more: run `git log`\n" in text
    for said in ("- and 10 more", "`f4` and 55 more", "70 earlier: run", "2 earlier: run", "**Attempt:** 1 (no limit)"):
        assert said in text


def test_a_receipt_that_is_not_in_the_record_any_more():
    """What cannot be seen is not called verified."""
    assert "`rcpt-001` (archived) |" in render(rich_record().model_copy(update={"receipts": ()}), VERDICTS)


LENGTHS = {
    0: "0s",
    45: "45s",
    60: "1m",
    125: "2m 5s",
    3600: "1h",
    7380: "2h 3m",
    93_784: "1d 2h",
    -5: "0s",
    36_000: "10h",
}


@pytest.mark.parametrize(("seconds", "said"), LENGTHS.items(), ids=LENGTHS.values())
def test_how_long_it_took(seconds, said):
    """A duration is said in its two largest units."""
    assert length(timedelta(seconds=seconds)) == said


@pytest.mark.parametrize("state", WAYS)
def test_synopsis(state):
    """The one line names task, state, step and file; a task that has ended has none."""
    line = synopsis(after(fresh_record(), *WAYS[state]), "/home/me/.atlas/workspaces/demo/tasks/fix")
    step = "none yet (0/7)" if state is RecordState.INITIALIZING else '"analyze" (1/7)'
    assert line == (
        ""
        if state in TERMINAL
        else f"[ATLAS RECOVERY] Task 'fix-null-pointer' in progress. State: {state}, Step: {step}. "
        "READ /home/me/.atlas/workspaces/demo/tasks/fix/HOOK.md BEFORE PROCEEDING."
    )


def test_the_synopsis_is_one_line():
    """Not even a name with line breaks makes it two."""
    record = fresh_record().model_copy(update={"task_id": NASTY})
    assert len(synopsis(record, f"/src/{NASTY}").splitlines()) == 1
