"""Retention: what is deleted, when, and what is left of it."""

import json
import os
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from support.record_directories import OURS, lay_down, left_in, read
from support.records import NOW, WAYS, after, at_step, fresh_record, with_receipt

from agent_sync.errors import BadInput, IllegalMove
from agent_sync.record.disk.cleanup import (
    clean,
    destroy,
    due,
    parse_duration,
    records_in,
    retention_of,
    uniform_retention,
)
from agent_sync.record.disk.deletion import LOCK_NAME, tombstones
from agent_sync.record.machine.machine import head_of
from agent_sync.record.machine.model import Owner, Record
from agent_sync.record.machine.progress import abandoned_record, completed_record
from agent_sync.record.machine.states import ACTIVE, OwnerStanding, RecordMove, RecordState
from agent_sync.settings.tables import RecordSettings
from agent_sync.system import files

DEFAULT = retention_of(RecordSettings())
ENDED: dict[RecordState, Record] = {
    RecordState.COMPLETED: completed_record(at_step("plan"), NOW),
    RecordState.FAILED: after(fresh_record(), RecordMove.SETUP_FAILED),
    RecordState.ABANDONED: abandoned_record(at_step("plan"), "released", NOW),
}


def days(number: float) -> timedelta:
    return timedelta(days=number)


# How a task ended, how long ago: whether its record is deleted by default.
POLICY = {
    "completed, 29 days": (RecordState.COMPLETED, days(29), False),
    "completed, 30 days": (RecordState.COMPLETED, days(30), True),
    "failed, 13 days": (RecordState.FAILED, days(13), False),
    "failed, 14 days": (RecordState.FAILED, days(14), True),
    "abandoned, 6 days": (RecordState.ABANDONED, days(6), False),
    "abandoned, 7 days": (RecordState.ABANDONED, days(7), True),
    "completed tomorrow, by another clock": (RecordState.COMPLETED, days(-1), False),
}


@pytest.mark.parametrize(("state", "age", "is_due"), POLICY.values(), ids=POLICY)
def test_cleanup_policy(state, age, is_due):
    """Completed tasks are kept for 30 days, failed ones for 14, abandoned ones for 7."""
    listed = due({Path("one"): ENDED[state]}, NOW + age, DEFAULT)
    assert [one.directory for one in listed] == ([Path("one")] if is_due else [])


@pytest.mark.parametrize("state", sorted(ACTIVE))
def test_a_task_at_work_is_never_due(state):
    """However old, however short the retention."""
    record = after(fresh_record(), *WAYS[state])
    assert due({Path("one"): record}, NOW + days(1000), uniform_retention(timedelta())) == ()


def test_due_are_listed_oldest_first():
    """The list is the same each time it is asked for."""
    older = ENDED[RecordState.FAILED].model_copy(update={"updated_at": NOW - days(1)})
    records = {Path("b"): ENDED[RecordState.FAILED], Path("a"): ENDED[RecordState.FAILED], Path("c"): older}
    assert [str(one.directory) for one in due(records, NOW, uniform_retention(timedelta()))] == ["c", "a", "b"]


LENGTHS = {"0": timedelta(), "30m": timedelta(minutes=30), "12h": timedelta(hours=12), "7d": days(7), "2w": days(14)}
NO_LENGTHS = ["", "7", "d", "-7d", "7 d", "7D", "1.5d", "7days", "٧d", "9999999d", "7d\n"]


@pytest.mark.parametrize(("text", "length"), LENGTHS.items(), ids=LENGTHS)
def test_lengths_of_time(text, length):
    """Minutes, hours, days and weeks, or nothing at all."""
    assert parse_duration(text) == length


@pytest.mark.parametrize("text", NO_LENGTHS)
def test_what_is_no_length_of_time(text):
    """The refusal shows how it is written."""
    with pytest.raises(BadInput, match="30m, 12h, 7d, 2w"):
        parse_duration(text)


@pytest.fixture
def workspace(tmp_path):
    """Lay down one task for each way to end, one at work and one that is damaged, with strange things beside."""
    root = tmp_path / "workspaces" / "demo-1a2b3c"
    for state, record in ENDED.items():
        lay_down(root, with_id(record, f"task-{state}"))
    lay_down(root, with_id(with_receipt(at_step("plan")), "task-running"))
    damaged = lay_down(root, with_id(ENDED[RecordState.FAILED], "task-damaged"))
    (damaged / "hook.json").write_text("{", encoding="utf-8")
    (root / "tasks" / "a-file").touch()
    (root / "tasks" / "a-link").symlink_to(lay_down(tmp_path / "elsewhere", ENDED[RecordState.FAILED]))
    return root


def with_id(record: Record, task_id: str) -> Record:
    return record.model_copy(update={"task_id": task_id, "owner": Owner(pid=4711)})


def test_cleanup_deletes_exactly_what_was_listed(workspace):
    """In all three terminal states; what is at work, damaged, linked or not ours stays byte for byte."""
    note = workspace / "tasks" / "task-failed" / "notes-of-mine.txt"
    note.write_text("mine", encoding="utf-8")
    later, policy = NOW + days(100), DEFAULT
    listed = due(records_in([workspace], read), later, policy)
    assert {one.directory.name for one in listed} == {"task-completed", "task-failed", "task-abandoned"}
    assert clean(listed, read, later, policy) == listed
    assert left_in(workspace / "tasks" / "task-completed") == {LOCK_NAME}
    assert left_in(workspace / "tasks" / "task-failed") == {LOCK_NAME, note.name}
    for name in ("task-running", "task-damaged", "a-link"):
        assert left_in(workspace / "tasks" / name) == {*OURS, LOCK_NAME}
    assert due(records_in([workspace], read), later, policy) == ()


def test_tombstones_keep_the_head_of_the_history(workspace):
    """One line for each, with what is needed to tell whether a copy of the history is the real one."""
    later = NOW + days(100)
    clean(due(records_in([workspace], read), later, DEFAULT), read, later, DEFAULT)
    lines = [json.loads(line) for line in (workspace / "tombstones.jsonl").read_text().splitlines()]
    completed = next(line for line in lines if line["task_id"] == "task-completed")
    record = with_id(ENDED[RecordState.COMPLETED], "task-completed")
    assert len(lines) == 3
    assert completed == {
        "task_id": "task-completed",
        "reason": "kept for 30 days after it was completed",
        "deleted": "2026-04-27T14:30:22Z",
        "state": "completed",
        "created": "2026-01-17T14:30:22Z",
        "ended": "2026-01-17T14:30:22Z",
        "events": len(record.history),
        "head": head_of(record),
        "receipts": 0,
    }


def test_what_changed_after_it_was_listed_is_kept(workspace):
    """A record that is written, replaced or gone meanwhile is looked at again under its lock."""
    later = NOW + days(100)
    listed = due(records_in([workspace], read), later, DEFAULT)
    lay_down(workspace, with_id(at_step("plan"), "task-failed"))
    lay_down(
        workspace, with_id(ENDED[RecordState.ABANDONED].model_copy(update={"updated_at": later}), "task-abandoned")
    )
    (workspace / "tasks" / "task-completed" / "hook.json").unlink()
    assert clean(listed, read, later, DEFAULT) == ()
    assert left_in(workspace / "tasks" / "task-failed") == {*OURS, LOCK_NAME}


def test_a_deletion_that_was_interrupted_is_finished(workspace):
    """What stopped half-way is found again, deleted, and noted once."""
    later, policy = NOW + days(100), DEFAULT
    stuck = workspace / "tasks" / "task-failed" / "task.log"
    stuck.unlink()
    stuck.mkdir()
    listed = due(records_in([workspace], read), later, policy)
    with pytest.raises(IsADirectoryError):
        clean(listed, read, later, policy)
    stuck.rmdir()
    rest = due(records_in([workspace], read), later, policy)
    assert stuck.parent in {one.directory for one in rest}
    assert clean(rest, read, later, policy) == rest
    assert sorted(stone.task_id for stone in tombstones(workspace)) == [
        "task-abandoned",
        "task-completed",
        "task-failed",
    ]


def test_a_torn_line_spoils_no_other(workspace):
    """Half a line that a crash has left is skipped, and the next begins on a line of its own."""
    (workspace / "tombstones.jsonl").write_text('{"task_id": "ha', encoding="utf-8")
    later = NOW + days(100)
    clean(due(records_in([workspace], read), later, DEFAULT), read, later, DEFAULT)
    assert len(list(tombstones(workspace))) == 3


def test_a_task_of_the_same_name_gets_its_own_line(workspace):
    """A name is used again after its record is gone; the two are not taken for one."""
    for number in range(2):
        record = with_id(ENDED[RecordState.FAILED], "again").model_copy(update={"created_at": NOW + days(number)})
        lay_down(workspace, record)
        listed = due(records_in([workspace], read), NOW + days(20), DEFAULT)
        clean([one for one in listed if one.directory.name == "again"], read, NOW + days(20), DEFAULT)
    assert [stone.task_id for stone in tombstones(workspace)] == ["again", "again"]


def test_a_record_that_is_being_written_is_waited_for(workspace):
    """Nothing is deleted under a writer's hands; once it has let go, the record is."""
    later = NOW + days(100)
    listed = due(records_in([workspace], read), later, DEFAULT)
    directory = listed[0].directory
    cleaning = threading.Thread(target=clean, args=(listed, read, later, DEFAULT))
    with files.locked(directory / LOCK_NAME, wait=0, doing=""):
        cleaning.start()
        cleaning.join(timeout=0.3)
        assert cleaning.is_alive()
        assert left_in(directory) == {*OURS, LOCK_NAME}
    cleaning.join()
    assert left_in(directory) == {LOCK_NAME}


def is_alive(_: Owner) -> OwnerStanding:
    return OwnerStanding.ALIVE


def is_gone(_: Owner) -> OwnerStanding:
    return OwnerStanding.GONE


def healthy(workspace: Path) -> Path:
    """Return the workspace without its damaged record."""
    (workspace / "tasks" / "task-damaged" / "hook.json").write_bytes(
        (workspace / "tasks" / "task-failed" / "hook.json").read_bytes()
    )
    return workspace


def test_a_destroyed_workspace_has_no_record(workspace):
    """Whatever their state, all records are gone at once, each with its line; what was linked is not."""
    gone = destroy(healthy(workspace), read, is_gone, NOW)
    assert len(gone) == 5
    for directory in gone:
        assert left_in(directory) == {LOCK_NAME}
    assert {stone.reason for stone in tombstones(workspace)} == {"workspace destroyed"}
    assert len(list(tombstones(workspace))) == 5
    assert left_in(workspace / "tasks" / "a-link") == {*OURS, LOCK_NAME}
    assert destroy(workspace, read, is_gone, NOW) == ()


REFUSED = {
    "somebody is at work": (True, is_alive, "Process 4711 is working on task-running"),
    "a record is damaged": (False, is_gone, "task-damaged cannot be read"),
}


@pytest.mark.parametrize(("is_healthy", "standing", "said"), REFUSED.values(), ids=REFUSED)
def test_a_workspace_is_not_destroyed_under_somebody(workspace, is_healthy, standing, said):
    """The refusal comes before anything is deleted, and force overrules it."""
    place = healthy(workspace) if is_healthy else workspace
    before = left_in(workspace)
    with pytest.raises(IllegalMove, match=said):
        destroy(place, read, standing, NOW)
    assert left_in(workspace) == before
    assert len(destroy(place, read, standing, NOW, is_forced=True)) == 5
    assert not records_in([workspace], read)


def test_artifacts_that_are_a_link_are_not_followed(workspace, tmp_path):
    """Only the link is deleted, never what it points to."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").touch()
    directory = lay_down(workspace, with_id(ENDED[RecordState.FAILED], "linked"))
    for file in (directory / "artifacts").rglob("*.*"):
        file.unlink()
    (directory / "artifacts" / "deep").rmdir()
    (directory / "artifacts").rmdir()
    (directory / "artifacts").symlink_to(outside)
    later = NOW + days(100)
    clean(due(records_in([workspace], read), later, DEFAULT), read, later, DEFAULT)
    assert left_in(directory) == {LOCK_NAME}
    assert (outside / "precious").exists()


def test_two_cleanups_at_once(workspace):
    """Two processes that delete the same leave one line for each record, and neither fails."""
    for number in range(20):
        lay_down(workspace, with_id(ENDED[RecordState.FAILED], f"many-{number}"))
    cleaner = Path(__file__).parents[1] / "crash" / "record_cleaner.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(cleaner), str(workspace)]
    running = [subprocess.Popen(command, env=environment) for _ in range(2)]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    names = [stone.task_id for stone in tombstones(workspace)]
    assert len(names) == len(set(names)) == 23
