"""What the hashes of a record notice."""

import json

import pytest
from support.stored_records import LATER, checkpoint, noted, receipt, stored, with_events

from agent_sync.record.disk import contents
from agent_sync.record.machine.model import ClaimNote, Owner, Recovery, ReflogPosition
from agent_sync.record.machine.states import CrashType, RecordState, RecoveryAdvice
from agent_sync.record.receipts.integrity import BrokenAt, ChangedOutside, Intact


@pytest.fixture
def store(tmp_path):
    """Make a record that has something in every field, and archived events."""
    return full(tmp_path, 270)


@pytest.fixture
def short(tmp_path, monkeypatch):
    """Make a record that has something in every field, and archived events, but only the newest eight in hook.json."""
    monkeypatch.setattr(contents, "EVENTS", 8)
    return full(tmp_path, 20)


def full(tmp_path, events):
    one = stored(tmp_path / "task", issue_number=42, branch="claude/x-42")
    recovery = Recovery(
        detected_at=LATER,
        crash_type=CrashType.SIGNAL,
        last_known_state=RecordState.STEP_RUNNING,
        was_validating=False,
        recommended_action=RecoveryAdvice.RETRY_STEP,
        reason="x",
    )
    fields = {
        "checkpoints": (checkpoint(0),),
        "receipts": (receipt(0),),
        "recovery": recovery,
        "owner": Owner(pid=1, started="2", boot_id="3", host="4", session_id="5"),
        "reflogs": {"HEAD": ReflogPosition(offset=1, last="a")},
        "claim": ClaimNote(claim={"phase": "coding", "issue_number": 42}, lost_to="ann"),
    }
    one.update(lambda record: with_events(events)(record).model_copy(update=fields), LATER)
    return one


def leaves(value, path=()):
    """Return the path of every single value in a JSON document."""
    if isinstance(value, dict):
        return [found for key, inner in value.items() for found in leaves(inner, (*path, key))]
    if isinstance(value, list):
        return [found for index, inner in enumerate(value) for found in leaves(inner, (*path, index))]
    return [path]


OTHER = {
    "state": "failed",
    "to_state": "failed",
    "from_state": "failed",
    "last_known_state": "failed",
    "trigger": "abandon",
    "status": "skipped",
    "crash_type": "timeout",
    "recommended_action": "manual",
    "kind": "gate",
}


def flipped(name, value, path):
    """Return another value that the field could hold."""
    if name in OTHER:
        return "interval" if path[0] == "checkpoints" and name == "trigger" else OTHER[name]
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case None:
            return {"started_at": "2026-01-01T00:00:00Z", "completed_at": "2026-01-01T00:00:00Z"}.get(name)
        case str() if name.endswith("_at") or name == "timestamp":
            return "2026-01-01T00:00:00Z"
        case str() if name in {"prev", "hash", "head"}:
            return ("1" if value[0] == "0" else "0") + value[1:]
        case str():
            return value + "x"


def rewritten(store, values):
    (store.directory / "hook.json").write_text(json.dumps(values))
    return store.read()


def test_every_field_is_vouched_for(short, record_property):
    """A file in which any single value was changed is used, and known as changed outside; untouched it is intact."""
    assert short.integrity(short.read()) == Intact()
    text = (short.directory / "hook.json").read_text()
    paths = [
        path for path in leaves(json.loads(text)) if path[0] != "history" and path[-1] not in {"version", "algorithm"}
    ]
    tried = 0
    for path in paths:
        values = json.loads(text)
        inner = values
        for key in path[:-1]:
            inner = inner[key]
        before = inner[path[-1]]
        inner[path[-1]] = flipped(str(path[-1]), before, path)
        if inner[path[-1]] is None:
            continue
        found = short.integrity(rewritten(short, values))
        assert isinstance(found, ChangedOutside | BrokenAt), path
        assert short.damaged_copies() == (), path
        tried += 1
    record_property("counted", f"changed {tried} fields of hook.json one by one: all noticed")


EVENT_FIELDS = ("seq", "timestamp", "from_state", "to_state", "trigger", "step_name", "details", "prev", "hash")


@pytest.mark.parametrize("field", EVENT_FIELDS)
def test_every_event_is_chained(short, field):
    """An event changed in any field is reported by its number, in hook.json and in a segment alike."""
    text = (short.directory / "hook.json").read_text()
    first = json.loads(text)["history"][0]["seq"]
    for place in (0, 3, 7):
        values = json.loads(text)
        event = values["history"][place]
        event[field] = {"number": -1} if field == "details" else flipped(field, event[field], ("history",))
        assert short.integrity(rewritten(short, values)) == BrokenAt(first + place)
    (short.directory / "hook.json").write_text(text)
    segment = short.directory / "hook-history-0000.jsonl"
    lines = segment.read_text().splitlines(keepends=True)
    for place in (3, len(lines) - 1):
        event = json.loads(lines[place])
        event[field] = {"number": -1} if field == "details" else flipped(field, event[field], ("history",))
        segment.write_text("".join([*lines[:place], json.dumps(event) + "\n", *lines[place + 1 :]]))
        assert short.integrity(short.read()) == BrokenAt(place)


STORIES = {
    "taken out": lambda events: events[:9] + events[10:],
    "swapped": lambda events: [*events[:9], events[10], events[9], *events[11:]],
    "said twice": lambda events: [*events[:9], events[8], *events[9:]],
    "begun later": lambda events: events[9:],
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_moved_events_do_not_fit(store, story):
    """Events taken out, swapped or repeated break the chain where that happened."""
    values = json.loads((store.directory / "hook.json").read_text())
    first = values["history"][0]["seq"]
    values["history"] = story(values["history"])
    where = first if len(values["history"]) < 250 else first + 9
    assert store.integrity(rewritten(store, values)) == BrokenAt(where)


def test_torn_segment_line_is_missed(store):
    """A settled line of a segment that cannot be read breaks the chain there."""
    segment = store.directory / "hook-history-0000.jsonl"
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join([*lines[:5], b"\0\0\0\n", *lines[6:]]))
    assert store.integrity(store.read()) == BrokenAt(5)
    segment.unlink()
    assert store.integrity(store.read()) == BrokenAt(0)


@pytest.mark.parametrize("field", EVENT_FIELDS)
def test_quick_check_reads_what_hook_json_holds_and_the_last_archived_event(short, field):
    """A summary notices any change of the newest events, and reads none of the earlier ones."""
    text, segment = (short.directory / "hook.json").read_text(), short.directory / "hook-history-0000.jsonl"
    first = json.loads(text)["history"][0]["seq"]
    values = json.loads(text)
    event = values["history"][3]
    event[field] = {"number": -1} if field == "details" else flipped(field, event[field], ("history",))
    assert short.integrity(rewritten(short, values), is_whole=False) == BrokenAt(first + 3)
    (short.directory / "hook.json").write_text(text)
    lines = segment.read_text().splitlines(keepends=True)
    segment.write_text("".join(["not an event\n", *lines[1:]]))
    assert short.integrity(short.read(), is_whole=False) == Intact()
    assert short.integrity(short.read()) == BrokenAt(0)
    event = json.loads(lines[-1])
    event[field] = {"number": -1} if field == "details" else flipped(field, event[field], ("history",))
    segment.write_text("".join([*lines[:-1], json.dumps(event) + "\n"]))
    assert short.integrity(short.read(), is_whole=False) == BrokenAt(first - 1)


def test_quick_check_passes_over_what_a_killed_writer_left(store):
    """Lines behind the last settled event, however many, and half a line are no damage; a lost segment is."""
    segment = store.directory / "hook-history-0000.jsonl"
    settled = segment.read_bytes()
    segment.write_bytes(settled + b'{"seq": 99999}\n' * 10_000 + b'{"se')
    assert store.integrity(store.read(), is_whole=False) == Intact()
    count = store.read().archive.events
    segment.unlink()
    assert store.integrity(store.read(), is_whole=False) == BrokenAt(count - 1)


def test_change_from_outside_is_noted(store):
    """The write that goes on from a file somebody else has changed says so in the log."""
    values = json.loads((store.directory / "hook.json").read_text())
    values["description"] = "something else"
    changed = rewritten(store, values)
    assert store.integrity(changed) == ChangedOutside()
    assert store.update(noted(), LATER).description == "something else"
    assert "changed outside agent-sync" in (store.directory / "task.log").read_text()


def test_record_that_was_never_told_of_its_claim_is_intact(tmp_path):
    """A record written before the note of the claim was kept has the digest that it had then."""
    one = stored(tmp_path / "task", issue_number=42)
    file = one.directory / "hook.json"
    values = json.loads(file.read_text())
    del values["claim"]
    file.write_text(json.dumps(values))
    assert isinstance(one.integrity(one.read()), Intact)
