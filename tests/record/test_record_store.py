"""The contract of the record's store."""

import contextlib
import json
import multiprocessing
import os
import random
import stat
import time

import pytest
from hypothesis import given, strategies as st
from support.prove import PROVE
from support.stored_records import LATER, NOW, begun_record, checkpoint, noted, receipt, stored, with_events

from agent_sync.errors import BadInput, BadRecord, IllegalMove, LockHeld, NoRecord, RecordUnavailable, WrongState
from agent_sync.record.disk import archive, contents
from agent_sync.record.disk.archive import SEGMENT_LENGTH, archive_events
from agent_sync.record.disk.store import RecordStore
from agent_sync.record.machine.model import Archive
from agent_sync.record.machine.states import RecordMove, RecordState
from agent_sync.record.receipts.integrity import BrokenAt, Intact, Restored
from agent_sync.system import files


def everything(directory):
    """Return content and times of all that lies in a directory, and of the directory itself."""
    paths = [directory, *sorted(directory.rglob("*"))]
    return [(path.name, path.stat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in paths]


@pytest.fixture
def short(tmp_path, monkeypatch):
    """Make a record whose hook.json holds the newest 16 events only."""
    monkeypatch.setattr(contents, "EVENTS", 16)
    return stored(tmp_path / "task")


def names(directory):
    return {path.name for path in directory.iterdir()}


def test_what_was_written_is_read(tmp_path):
    """A record comes back as it was returned, by another store too, and knows its own digest."""
    store = stored(tmp_path / "task")
    changed = store.update(noted(1), LATER)
    assert RecordStore(store.directory).read() == changed
    assert changed.updated_at == LATER
    assert store.integrity(changed) == Intact()
    assert names(store.directory) == {
        "hook.json",
        "hook.json.prev",
        "hook.lock",
        "HOOK.md",
        "task.json",
        "task.log",
        "artifacts",
    }


def test_no_record_is_none(tmp_path):
    """Where nothing was written there is no record, no change, and nothing is made."""
    store = RecordStore(tmp_path / "task")
    assert store.read() is None
    assert store.archived_events() == []
    with pytest.raises(NoRecord):
        store.update(noted(), NOW)
    assert not store.directory.exists()


def test_equal_change_writes_nothing(tmp_path):
    """A change that changes nothing leaves every byte and every time as it was."""
    store = stored(tmp_path / "task")
    before = everything(store.directory)
    assert store.update(lambda record: record.model_copy(update={"branch": ""}), LATER) == store.read()
    assert everything(store.directory) == before


def test_create_never_overwrites(tmp_path):
    """A record that is there is refused a second beginning, even if only its previous generation is left."""
    store = stored(tmp_path / "task")
    for _ in range(2):
        before = everything(store.directory)[1:]
        with pytest.raises(WrongState, match="already has a record"):
            store.create(begun_record())
        assert everything(store.directory)[1:] == before
        (store.directory / "hook.json").unlink(missing_ok=True)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_modes_are_exact(tmp_path, umask):
    """The directory and the files are the owner's alone, whatever the umask."""
    before = os.umask(umask)
    try:
        store = stored(tmp_path / "task")
    finally:
        os.umask(before)
    modes = {
        name: stat.S_IMODE((store.directory / name).stat().st_mode)
        for name in ("", "hook.json", "HOOK.md", "task.json")
    }
    assert modes == {"": 0o700, "hook.json": 0o600, "HOOK.md": 0o600, "task.json": 0o600}


def test_derived_files_follow_the_record(tmp_path):
    """HOOK.md names its source's digest; task.json changes with the outcome only; every event is logged once."""
    store = stored(tmp_path / "task")
    task = (store.directory / "task.json").stat().st_mtime_ns
    record = store.update(with_events(3), LATER)
    assert record.digest in (store.directory / "HOOK.md").read_text()
    assert (store.directory / "task.json").stat().st_mtime_ns == task
    record = store.update(lambda record: record.model_copy(update={"state": RecordState.ABANDONED}), LATER)
    values = json.loads((store.directory / "task.json").read_text())
    assert (values["outcome"], values["template"], values["steps"][0]) == (
        "abandoned",
        "bugfix",
        {"name": "analyze", "idempotent": True},
    )
    assert logged(store) == [0, 1, 2, 3, 4]


def logged(store):
    lines = (store.directory / "task.log").read_text().splitlines()
    return [values["seq"] for line in lines if "seq" in (values := json.loads(line))]


@pytest.mark.parametrize("cut", [1, 60, 150])
def test_log_repairs_itself(tmp_path, cut):
    """Lines that a killed writer left out or tore are completed by the next write, none twice."""
    store = stored(tmp_path / "task")
    store.update(with_events(3), LATER)
    file = store.directory / "task.log"
    file.write_bytes(file.read_bytes()[:-cut])
    store.update(noted(), LATER)
    assert logged(store) == [0, 1, 2, 3, 4, 5]


def test_history_only_grows(tmp_path):
    """A change that drops, edits or reorders events, or touches the archive, is refused."""
    store = stored(tmp_path / "task")
    changes = [
        {"history": ()},
        {"history": tuple(reversed(store.read().history))},
        {"archive": Archive(events=1, head="0" * 64)},
    ]
    for change in changes:
        with pytest.raises(IllegalMove, match="only grow"):
            store.update(lambda record, change=change: record.model_copy(update=change), LATER)


def test_unreadable_change_is_not_written(tmp_path):
    """What could not be read again is not written in the first place."""
    store = stored(tmp_path / "task")
    before = everything(store.directory)
    with pytest.raises(BadInput, match="would not be readable"):
        store.update(lambda record: record.model_copy(update={"task_index": -1}), LATER)
    assert everything(store.directory) == before


def test_failing_change_lets_go(tmp_path):
    """A change that raises writes nothing and holds nothing."""
    store = stored(tmp_path / "task")
    before = everything(store.directory)
    with pytest.raises(ZeroDivisionError):
        store.update(lambda _: 1 / 0, LATER)
    assert everything(store.directory) == before
    store.update(noted(), LATER)


def test_rebuild_makes_derived_files_anew(tmp_path):
    """A lost or edited HOOK.md is made again; a right one is left alone."""
    store = stored(tmp_path / "task")
    right = (store.directory / "HOOK.md").read_bytes()
    before = everything(store.directory)
    assert not store.rebuild()
    assert everything(store.directory) == before
    (store.directory / "HOOK.md").write_text("nonsense")
    assert store.rebuild()
    assert (store.directory / "HOOK.md").read_bytes() == right


LEFT_BY_A_POWER_CUT = {
    "nothing": None,
    "an empty file": lambda _: b"",
    "zero bytes": lambda whole: bytes(len(whole)),
    "the beginning and zero bytes": lambda whole: whole[:100] + bytes(len(whole) - 100),
    "the beginning": lambda whole: whole[:100],
}


@pytest.mark.parametrize("name", ["HOOK.md", "task.json"])
@pytest.mark.parametrize("left", LEFT_BY_A_POWER_CUT.values(), ids=LEFT_BY_A_POWER_CUT)
def test_the_next_look_makes_a_view_that_a_power_cut_took(tmp_path, name, left):
    """Whatever is left of a file that is made from hook.json, a look that changes nothing makes it again."""
    store = stored(tmp_path / "task")
    file = store.directory / name
    record, whole = (store.directory / "hook.json").read_bytes(), file.read_bytes()
    file.unlink()
    if left:
        file.write_bytes(left(whole))
    store.update(lambda found: found, LATER)
    assert file.read_bytes() == whole
    assert (store.directory / "hook.json").read_bytes() == record


def test_lock_is_waited_for_and_given_up(tmp_path):
    """A held lock ends in LockHeld, with the record as it was; the lock file is never deleted."""
    store = RecordStore(stored(tmp_path / "task").directory, patience=0.1)
    before = everything(store.directory)
    with files.locked(store.directory / "hook.lock", wait=0, doing=""), pytest.raises(LockHeld, match=r"hook\.lock"):
        store.update(noted(), LATER)
    assert everything(store.directory) == before
    inode = (store.directory / "hook.lock").stat().st_ino
    store.update(noted(), LATER)
    assert (store.directory / "hook.lock").stat().st_ino == inode


def test_stale_temporaries_are_swept(tmp_path):
    """What killed writers left is gone after the next update, even one that changes nothing."""
    store = stored(tmp_path / "task")
    left = [
        "hook.json.1.tmp",
        "hook.json.prev.1.tmp",
        "HOOK.md.7.tmp",
        "task.json.7.tmp",
        "artifacts/rcpt-1.json.7.tmp",
    ]
    for name in left:
        (store.directory / name).write_text("half")
    store.update(lambda record: record, LATER)
    assert not [name for name in left if (store.directory / name).exists()]


def test_caps(tmp_path):
    """hook.json holds the newest 256 events, 64 checkpoints and 64 receipts; every event and receipt is kept."""
    store = stored(tmp_path / "task")
    many = {"checkpoints": tuple(map(checkpoint, range(70))), "receipts": tuple(map(receipt, range(70)))}
    record = store.update(lambda record: with_events(600)(record).model_copy(update=many), LATER)
    assert (len(record.history), record.archive.events) == (256, 346)
    assert [event.seq for event in store.archived_events()] == list(range(346))
    assert record.archive.head == store.archived_events()[-1].hash
    assert (record.checkpoints, record.receipts) == (many["checkpoints"][-64:], many["receipts"][-64:])
    assert len(names(store.directory / "artifacts")) == 70
    assert store.integrity(record) == Intact()
    assert logged(store) == list(range(602))


def test_receipt_stays_in_its_directory(tmp_path):
    """A receipt whose id is a path is refused."""
    store = stored(tmp_path / "task")
    bad = (receipt(0, "../../evil"),)
    with pytest.raises(BadInput, match="id of a receipt"):
        store.update(lambda record: record.model_copy(update={"receipts": bad}), LATER)


def test_segments_follow_one_another(short, monkeypatch):
    """Event 4096 begins the second segment, and the chain goes through both."""
    assert SEGMENT_LENGTH == 4096
    # Wherever a segment ends, the next begins in the same way.
    length = SEGMENT_LENGTH if PROVE else 64
    monkeypatch.setattr(archive, "SEGMENT_LENGTH", length)
    short.update(with_events(length + 10), LATER)
    for number in range(20):
        record = short.update(noted(number), LATER)
    assert record.archive.events == length + 16
    lines = [(short.directory / f"hook-history-{number:04d}.jsonl").read_bytes().count(b"\n") for number in (0, 1)]
    assert lines == [length, 16]
    assert short.integrity(record) == Intact()


def test_crash_between_segment_and_record(tmp_path):
    """Events that reached a segment without the hook.json that lets go of them are ignored, then overwritten."""
    store = stored(tmp_path / "task")
    record = store.update(with_events(300), LATER)
    archived = record.archive.events
    # A killed writer had moved five events on, with another story after them, and tore the sixth line.
    archive_events(store.directory, record.history[:5])
    segment = store.directory / "hook-history-0000.jsonl"
    segment.write_bytes(segment.read_bytes() + b'{"seq": 51, "torn')
    assert len(store.archived_events()) == archived
    assert store.integrity(store.read()) == Intact()
    record = store.update(noted(), LATER)
    assert segment.read_bytes().count(b"\n") == record.archive.events == archived + 1
    assert store.integrity(record) == Intact()


def test_torn_tail_at_every_byte(short):
    """Wherever an append was cut, the next write goes on from the last whole settled line."""
    short.update(with_events(16), LATER)
    segment = short.directory / "hook-history-0000.jsonl"
    settled = segment.read_bytes()
    hook, previous = (short.directory / "hook.json").read_bytes(), (short.directory / "hook.json.prev").read_bytes()
    short.update(noted(), LATER)
    line = segment.read_bytes()[len(settled) :]
    for cut in range(0, len(line) + 1, 1 if PROVE else 23):
        segment.write_bytes(settled + line[:cut])
        (short.directory / "hook.json").write_bytes(hook)
        (short.directory / "hook.json.prev").write_bytes(previous)
        record = short.update(noted(), LATER)
        assert short.integrity(record) == Intact(), cut


def test_segment_cut_by_somebody_else(tmp_path):
    """Archived events that somebody has taken out are missed by name, and the work goes on."""
    store = stored(tmp_path / "task")
    store.update(with_events(300), LATER)
    segment = store.directory / "hook-history-0000.jsonl"
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:10]))
    assert store.integrity(store.read()) == BrokenAt(10)
    assert store.integrity(store.update(noted(), LATER)) == BrokenAt(10)


DAMAGE = {
    "empty": b"",
    "zero bytes": b"\0" * 4096,
    "no JSON": b"<<<<<<< HEAD",
    "no object": b"[]",
    "wrong version": b'{"version": "9.0"}',
    "not text": b"\xff\xfe\x80",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_record_falls_back(tmp_path, damage):
    """A damaged hook.json is copied aside once, the generation before is used, and survives the next write."""
    store = stored(tmp_path / "task")
    good = store.read()
    store.update(noted(1), LATER)
    (store.directory / "hook.json").write_bytes(damage)
    assert store.read() == good
    assert store.read() == good
    (copy,) = store.damaged_copies()
    assert copy.read_bytes() == damage
    record = store.update(noted(2), LATER)
    assert store.read() == record
    assert record.history[:-2] == good.history
    assert record.history[-2].trigger is RecordMove.RESTORED
    assert (store.directory / "hook.json.prev").read_bytes().count(good.digest.encode()) == 1
    assert store.damaged_copies() == (copy,)
    assert f"kept as {copy.name}" in (store.directory / "task.log").read_text()
    assert logged(store) == [0, 1, 2, 2, 3]


def test_different_damage_is_kept_apart(tmp_path):
    """Two kinds of damage of the same second give two copies."""
    store = stored(tmp_path / "task")
    for damage in (b"one", b"two", b"one"):
        (store.directory / "hook.json").write_bytes(damage)
        os.utime(store.directory / "hook.json", (0, 0))
        store.read()
    assert [copy.read_bytes() for copy in store.damaged_copies()] == [b"one", b"two"]
    assert store.damaged_copies()[0].name == "hook.json.damaged-19700101T000000Z"


def test_lost_record_falls_back(tmp_path):
    """A hook.json that somebody deleted is not taken for no record while the generation before it is there."""
    store = stored(tmp_path / "task")
    good = store.read()
    store.update(noted(), LATER)
    (store.directory / "hook.json").unlink()
    assert store.read() == good
    store.update(noted(), LATER)
    assert "hook.json was gone" in (store.directory / "task.log").read_text()


def test_nothing_usable_is_an_error(tmp_path):
    """With both generations damaged there is an error with a way out, never the answer that there is no record."""
    store = stored(tmp_path / "task")
    for name in ("hook.json", "hook.json.prev"):
        (store.directory / name).write_bytes(b"")
    before = everything(store.directory)[1:]
    for act in (store.read, lambda: store.update(noted(), LATER)):
        with pytest.raises(BadRecord, match=r"it is empty.*Try: agent-sync"):
            act()
    with pytest.raises(WrongState):
        store.create(begun_record())
    assert [row for row in everything(store.directory)[1:] if "damaged" not in row[0]] == before


@pytest.mark.parametrize("kind", ["link", "directory", "pipe"])
def test_strange_record_is_refused(tmp_path, kind):
    """A hook.json that is no plain file is neither followed nor replaced."""
    store = stored(tmp_path / "task")
    file = store.directory / "hook.json"
    file.rename(tmp_path / "elsewhere")
    make = {
        "link": lambda: file.symlink_to(tmp_path / "elsewhere"),
        "directory": file.mkdir,
        "pipe": lambda: os.mkfifo(file),
    }
    make[kind]()
    for act in (store.read, lambda: store.update(noted(), LATER)):
        with pytest.raises(BadRecord, match="refused"):
            act()


def test_truncation_after_every_byte(tmp_path, record_property):
    """Cut after any byte, hook.json gives the old or the new generation: no error, never no record."""
    store = stored(tmp_path / "task")
    old = store.read()
    new = store.update(noted(), LATER)
    file = store.directory / "hook.json"
    content = file.read_bytes()
    # Where the copy would lie something else does: what is tried here is reading, thousands of times.
    (store.directory / "hook.json.damaged-19700101T000000Z").mkdir()
    found = {old.digest: 0, new.digest: 0}
    # Without its last newline it is still complete.
    sizes = [*range(0, len(content) - 1, 1 if PROVE else 7), len(content) - 1]
    for size in sizes:
        file.write_bytes(content[:size])
        os.utime(file, (0, 0))
        found[store.read().digest] += 1
    assert found == {old.digest: len(sizes) - 1, new.digest: 1}
    record_property("counted", f"cut hook.json after {len(sizes)} of {len(content)} bytes: always a whole generation")


@given(damage=st.binary(max_size=200), where=st.integers(0, 5000), is_replaced=st.booleans())
def test_random_damage_never_means_no_record(tmp_path_factory, damage, where, is_replaced):
    """Whatever bytes get into both generations, the answer is a record or an error that says so."""
    store = stored(tmp_path_factory.mktemp("record") / "task")
    for name in ("hook.json", "hook.json.prev"):
        content = (store.directory / name).read_bytes()
        spoilt = damage if is_replaced else content[:where] + damage + content[where + len(damage) :]
        (store.directory / name).write_bytes(spoilt)
    with contextlib.suppress(BadRecord):
        assert store.read() is not None


def test_reading_a_damaged_record_on_a_full_disk(tmp_path):
    """A copy that cannot be made does not stop reading, but stops writing."""
    store = stored(tmp_path / "task")
    good = store.read()
    store.update(noted(), LATER)
    (store.directory / "hook.json").write_bytes(b"")
    os.utime(store.directory / "hook.json", (0, 0))
    (store.directory / "hook.json.damaged-19700101T000000Z").mkdir()
    assert store.read() == good
    with pytest.raises(RecordUnavailable):
        store.update(noted(), LATER)
    assert (store.directory / "hook.json").read_bytes() == b""


def write(directory, updates):
    """Be one of several writers."""
    # The lock is polled and not fair: writers that never pause can keep another waiting beyond the usual five seconds.
    store = RecordStore(directory, patience=300)
    for number in range(updates):
        store.update(noted(number), LATER)


def test_processes_lose_no_update(tmp_path, record_property):
    """Everything that several processes write at the same time is kept, in one unbroken chain."""
    store = stored(tmp_path / "task")
    writers, updates = (6, 300) if PROVE else (3, 20)
    fork = multiprocessing.get_context("fork")
    running = [fork.Process(target=write, args=(store.directory, updates)) for _ in range(writers)]
    for process in running:
        process.start()
    reads = []
    while any(process.is_alive() for process in running):
        reads.append(store.read())
        time.sleep(0.01)
    statuses = [process.exitcode for process in running]
    record = store.read()
    assert statuses == [0] * writers
    assert record.archive.events + len(record.history) == 2 + writers * updates
    assert store.integrity(record) == Intact()
    assert reads
    assert None not in reads
    assert logged(store) == list(range(2 + writers * updates))
    record_property("counted", f"{writers} processes x {updates} updates of a record: {writers * updates} kept")


def test_random_order_of_trouble_converges(short):
    """Whatever damage and updates follow one another, the record goes on with an intact history."""
    dice = random.Random(7)  # noqa: S311  # a fixed sequence
    for number in range(400 if PROVE else 60):
        match dice.randrange(4):
            case 0:
                (short.directory / "hook.json").write_bytes(b"\0" * dice.randrange(10))
            case 1:
                (short.directory / dice.choice(["HOOK.md", "task.json", "task.log"])).unlink(missing_ok=True)
            case _:
                short.update(with_events(dice.randrange(1, 40)), LATER)
        damaged = (short.directory / "hook.json").read_bytes().strip(b"\0") == b""
        assert short.integrity(short.read()) == (Restored("hook.json") if damaged else Intact()), number
