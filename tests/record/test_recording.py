"""What sessions, claims and git bring into the recovery record, without any process in between."""

import json
from types import SimpleNamespace

import pytest
from support.claims import claim
from support.context import Workshop
from support.records import NOW, after, fresh_record

from agent_sync.gates.run.receipts import note_began, note_ended
from agent_sync.gates.run.results import Executed, JobOutcome, JobResult
from agent_sync.gates.status import Status
from agent_sync.quiet.last_words import keep_input
from agent_sync.record import keep as recording
from agent_sync.record.crash.advice import resumed_after_crash
from agent_sync.record.disk.contents import Occasion
from agent_sync.record.disk.ending import Ending, end_record
from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.model import Recovery
from agent_sync.record.machine.progress import Goal, record_at_goal
from agent_sync.record.machine.states import CrashType, RecordMove, RecordState, RecoveryAdvice
from agent_sync.record.receipts.proof import examine, find_receipt
from agent_sync.record.receipts.signing import Valid
from agent_sync.record.receipts.validation import ValidationEnd, with_validation_begun, with_validation_ended
from agent_sync.system import clock
from agent_sync.task.claim.phases import Phase

RETRY = Recovery(
    detected_at=NOW,
    crash_type=CrashType.SIGNAL,
    last_known_state=RecordState.INITIALIZING,
    was_validating=False,
    recommended_action=RecoveryAdvice.RETRY_STEP,
    reason="Nothing was under way.",
)


@pytest.fixture
def held(workshop, tmp_path) -> Workshop:
    """Hold a claim that has its record."""
    workshop.new_context(HOME=str(tmp_path / "home"), ATLAS_HOME="")
    workshop.hold(claim())
    recording.catch_up(workshop.context)
    return workshop


def save_prompt(held, prompt):
    """Save a prompt unread, as a hook does that has nothing else to do."""
    given = {"cwd": str(held.root), "prompt": prompt}
    keep_input("on-prompt", json.dumps(given).encode())


def record(held):
    """Return the record as it is."""
    return held.context.recorder.current().record


def test_record_is_read_once_until_it_changes(held):
    """One run reads an unchanged record once; what anybody else writes meanwhile is seen."""
    recorder, now = held.context.recorder, clock.now()
    first = recorder.current()
    assert recorder.current() is first
    other = recording.Recorder(recorder.place, recorder.settings, recorder.environment, recorder.git)
    other.change(lambda old: with_move(old, RecordMove.MANUAL_REQUIRED, now, reason="wait"), now)
    assert recorder.current().record.state == "awaiting_human"
    other.change(lambda old: with_move(old, RecordMove.ABANDON, now), now)
    assert recorder.current() is None


@pytest.mark.parametrize(("given_up", "state"), [("", "completed"), ("too hard", "abandoned")])
@pytest.mark.parametrize("trouble", ["gone", "refuses"])
def test_task_that_ends_while_its_record_is_away(held, tmp_path, given_up, state, trouble):
    """A home that is away when the task ends does not keep its record open: that is made up for when it is back."""
    context, home, away = held.context, tmp_path / "home" / ".atlas", tmp_path / "away"
    file = context.recorder.current().store.directory / "hook.json"
    if trouble == "gone":
        home.rename(away)
        home.mkdir()
    else:
        file.rename(away)
        file.mkdir()
    recording.attempt(context, lambda context: end_record(context.recorder, Ending(given_up), clock.now()))
    (held.root / ".agent-claim.json").unlink()
    if trouble == "gone":
        home.rmdir()
        away.rename(home)
    else:
        file.rmdir()
        away.rename(file)
    held.new_context(HOME=str(tmp_path / "home"), ATLAS_HOME="")
    assert held.context.recorder.current() is None
    assert json.loads(file.read_bytes())["state"] == state
    assert not list((held.root / ".git" / "agentsync").rglob("record*"))


def test_prompt_of_before_is_no_answer(held):
    """A prompt that was given before a human was waited for does not end the waiting; one that follows does."""
    save_prompt(held, "fix it")
    now = clock.now()
    held.context.recorder.change(
        lambda old: with_move(old, RecordMove.MANUAL_REQUIRED, now, reason="the gates failed"), now
    )
    recording.catch_up(held.context, Occasion("s1", said="I gave up", is_work=True))
    assert (record(held).state, record(held).current_step.prompt) == ("awaiting_human", "fix it")
    recording.catch_up(held.context, Occasion("s1", prompt="try it like this", is_work=True))
    assert record(held).state == "step_running"


def test_wake_up_is_not_what_the_human_asked_for(held):
    """A wake-up that came quietly does not take the place of the prompt before it."""
    save_prompt(held, "fix it")
    save_prompt(held, "<task-notification>CI is green</task-notification>")
    recording.catch_up(held.context)
    assert record(held).current_step.prompt == "fix it"


def test_completed_step_keeps_its_own_checkpoint(held):
    """That a step is complete is a checkpoint of that step: the next one has reached nothing yet."""
    held.hold(claim(Phase.READY_FOR_PR))
    recording.catch_up(held.context)
    (point,) = record(held).checkpoints
    assert (point.description, point.step_name, point.attempt) == ("Step implement is complete", "implement", 1)
    assert record(held).current_step.working_on == "Issue #42"


def test_human_resumes_by_command(held):
    """Whoever is waited for goes on with `agent-sync resume`, whose word is an answer."""
    now = clock.now()
    held.context.recorder.change(
        lambda old: with_move(old, RecordMove.MANUAL_REQUIRED, now, reason="the gates failed"), now
    )
    recording.catch_up(held.context, Occasion(is_work=True))
    assert record(held).state == "awaiting_human"
    recording.catch_up(held.context, Occasion(is_work=True, is_answer=True))
    assert record(held).state == "step_running"


@pytest.mark.parametrize("crashed", [False, True], ids=["beginning", "crashed"])
def test_claim_killed_at_its_beginning_may_fail_often(crashed):
    """A claim whose record was begun and no more takes as many attempts as any other."""
    begun = fresh_record("claim-to-close")
    taken_up = resumed_after_crash(after(begun, RecordMove.CRASH_DETECTED).model_copy(update={"recovery": RETRY}), NOW)
    going = record_at_goal(taken_up if crashed else begun, Goal("implement"), NOW)
    for _ in range(5):
        going = with_validation_ended(with_validation_begun(going, "gates", NOW), ValidationEnd.FAILED, NOW)
    assert (going.state, going.current_step.attempt) == ("step_running", 6)


def test_record_moves_with_its_worktree(held):
    """A worktree that was moved takes its record along, so that another one at the old path finds none."""
    held.root = held.root.rename(held.root.with_name("moved"))
    held.new_context(HOME=held.context.environment["HOME"], ATLAS_HOME="")
    recording.catch_up(held.context)
    assert record(held).worktree == str(held.root)


def test_claim_with_another_branch_is_followed(held):
    """The record names the branch that the claim names now."""
    held.hold(claim(branch="claude/another-42"))
    recording.catch_up(held.context)
    assert record(held).branch == "claude/another-42"


def test_newcomer_at_an_old_path_is_at_no_claim(held):
    """A clone made anew where another was holds no claim, so it is not at the record of one; with the claim it is."""
    (held.root / ".git" / "agentsync" / "record").unlink()
    held.context.store.file.unlink()
    assert held.context.recorder.current() is None
    held.hold(claim())
    assert record(held).issue_number == 42


@pytest.mark.parametrize(("status", "attempt"), [(Status.FAILED, 2), (Status.PASSED, 1)], ids=["failed", "passed"])
def test_gates_end_on_record_without_a_key(held, status, attempt):
    """Where no receipt can be signed the record still says how the gates ended, and the human is told why."""
    key = held.context.recorder.home.root / "keys" / "master.key"
    key.parent.mkdir(mode=0o700)
    key.write_text("no key\n")
    key.chmod(0o600)
    note_began(held.context)
    assert record(held).state == "step_validating"
    ran = Executed("make lint", str(held.root), 0, NOW, NOW, "0" * 64)
    job = JobResult("check:.:lint", JobOutcome.PASSED, executed=ran)
    prepared = SimpleNamespace(repo=SimpleNamespace(head=lambda: "a" * 40), snapshot=SimpleNamespace(tree="b" * 40))
    note_ended(held.context, prepared, SimpleNamespace(results=(job,), status=status), is_full=True)
    assert (record(held).state, record(held).current_step.attempt) == ("step_running", attempt)
    assert "64 hexadecimal digits" in held.said[0]


def test_unread_input_is_for_its_owner_alone(held):
    """What was said is not masked yet while it lies by, so nobody else can read it."""
    save_prompt(held, "use the token")
    assert (held.root / ".git" / "agentsync" / "spool.on-prompt").stat().st_mode & 0o777 == 0o600


def test_every_receipt_of_a_large_run_is_kept(held):
    """One run of more gates than hook.json lists leaves a file for each of them, and each can be verified."""
    note_began(held.context)
    jobs = tuple(
        JobResult(f"check:{number}", JobOutcome.PASSED, executed=Executed("lint", "/", 0, NOW, NOW, "0" * 64))
        for number in range(70)
    )
    prepared = SimpleNamespace(repo=SimpleNamespace(head=lambda: "a" * 40), snapshot=SimpleNamespace(tree="b" * 40))
    note_ended(held.context, prepared, SimpleNamespace(results=jobs, status=Status.PASSED), is_full=True)
    kept = held.context.recorder.current()
    assert (len(kept.record.receipts), kept.record.receipts_total) == (64, 70)
    found = find_receipt("rcpt-001", [kept])
    assert found
    assert isinstance(examine(*found, held.context.environment), Valid)
