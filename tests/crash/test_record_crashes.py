"""Kills a save of the recovery record at every system call it makes, and fails every call it can fail."""

import json
import random
import shutil
from pathlib import Path

import pytest
from support.prove import PROVE
from support.stored_records import LATER, created_once, full_store, saved_once
from support.traced import TracedWriter, points

from agent_sync.record.disk.contents import count_of
from agent_sync.record.disk.store import RecordStore
from agent_sync.record.receipts.integrity import Intact

WRITER = Path(__file__).with_name("record_writer.py")
SUCCEEDED, SAID_SO = 0, 3
SAMPLE = 3
# What can go wrong with a call, on a disk that is broken or full or takes part of what it is given.
ANY = ("error=EIO",)
GROWING = ("error=EIO", "error=ENOSPC", "error=EROFS")
FAILURES = {
    **dict.fromkeys(("newfstatat", "read", "getdents64", "close", "fchmod", "flock", "unlink", "lseek"), ANY),
    **dict.fromkeys(("openat", "mkdir", "rename", "fsync", "ftruncate"), GROWING),
    "write": (*GROWING, "retval=0", "retval=1", "retval=5"),
    # The last is what a file system says that knows no second names.
    "link": (*GROWING, "error=EPERM"),
}


class Scene:
    """One directory that is saved to again and again, each time from the same beginning."""

    def __init__(self, root: Path, *, is_new: bool) -> None:
        self.template = None if is_new else full_store(root / "template").directory
        self.store = RecordStore(root / "home" / "task")
        kind = "create" if is_new else "update"
        self.writer = TracedWriter(WRITER, str(self.store.directory), kind, trace=root / "trace")
        self.old = None if is_new else (self.template / "hook.json").read_bytes()
        self.start_over()
        (created_once if is_new else saved_once)(self.store.directory)
        self.new = self._content()
        self.start_over()
        # The first is the wait for the start.
        self.calls = self.writer.write()[1:]
        assert (self.writer.status, self._content()) == (SUCCEEDED, self.new)

    def start_over(self) -> None:
        """Lay the old generation out again."""
        shutil.rmtree(self.store.directory.parent, ignore_errors=True)
        if self.template:
            shutil.copytree(self.template, self.store.directory)

    def write(self, injection: str) -> int:
        """Save from the beginning, with something going wrong; return how the writer ended."""
        self.start_over()
        self.writer.write("-e", f"inject={injection}")
        return self.writer.status

    def check_whole(self) -> bool:
        """The old or the new generation is there, complete; tell whether it is the new."""
        content = self._content()
        assert content in {self.old, self.new}
        record = self.store.read()
        assert (record is None) == (content is None)
        assert record is None or self.store.integrity(record) == Intact()
        assert self.store.damaged_copies() == ()
        return content == self.new

    def check_complete(self) -> None:
        """Everything that is made from the record is made from this generation."""
        directory = self.store.directory
        record = self.store.read()
        assert record.digest in (directory / "HOOK.md").read_text()
        assert json.loads((directory / "task.json").read_text())["outcome"] == (
            record.state if record.state == "abandoned" else None
        )
        assert all((directory / "artifacts" / f"{receipt.receipt_id}.json").is_file() for receipt in record.receipts)
        numbers = [json.loads(line).get("seq") for line in (directory / "task.log").read_text().splitlines()]
        assert numbers == list(range(count_of(record)))
        assert self.store.integrity(record) == Intact()

    def check_next(self) -> None:
        """The next save succeeds, completes what was left out, and leaves no litter."""
        if self.store.read() is None:
            created_once(self.store.directory)
        self.store.update(lambda record: record.model_copy(update={"branch": "next"}), LATER)
        self.check_complete()
        assert [path.name for path in self.store.directory.rglob("*.tmp")] == []

    def _content(self) -> bytes | None:
        file = self.store.directory / "hook.json"
        return file.read_bytes() if file.exists() else None


@pytest.fixture(params=[False, True], ids=["update", "create"])
def scene(request, tmp_path):
    """Return a record that is saved for the first time, or once more."""
    one = Scene(tmp_path, is_new=request.param)
    yield one
    one.writer.end()


def sample(every):
    """Return all of it in a long run, else some that are always the same."""
    return every if PROVE or len(every) <= SAMPLE else random.Random(6).sample(every, SAMPLE)  # noqa: S311


def test_killed_or_failing_save_leaves_old_or_new(scene, record_property):
    """A save that is killed, or whose calls fail, leaves a complete generation; a failure is said."""
    check_kills(scene, record_property)
    check_failures(scene, record_property)


def check_kills(scene, record_property):
    """Wherever a save is killed, the complete old or new generation is there and the next save mends the rest."""
    every = points(scene.calls)
    must = [point for point in every if point[0] in {"rename", "link"}]
    tried = sorted({*sample(every), *must})
    outcomes = {True: 0, False: 0}
    for name, number in tried:
        status = scene.write(f"{name}:signal=SIGKILL:when={number}")
        assert status == -9, (name, number)
        outcomes[scene.check_whole()] += 1
        scene.check_next()
    kept = f"{outcomes[False]} old, {outcomes[True]} new, 0 torn"
    record_property("counted", f"killed a record's save at {len(tried)} of {len(every)} system calls: {kept}")
    assert outcomes[False]
    assert outcomes[True]


def check_failures(scene, record_property):
    """Whichever call fails, or takes less than it was given, a save has succeeded truly or says that it has not."""
    every = [
        f"{name}:{trouble}:when={number}" for name, number in points(scene.calls) for trouble in FAILURES.get(name, ())
    ]
    lies = [injection for injection in every if "retval=5" in injection]
    # A directory that cannot be listed only keeps litter, so the save succeeds.
    harmless = [injection for injection in every if injection.startswith("getdents64")][-1:]
    tried = sorted({*sample(every), *lies, *harmless})
    outcomes = {SUCCEEDED: 0, SAID_SO: 0}
    for injection in tried:
        status = scene.write(injection)
        assert status in outcomes, injection
        is_new = scene.check_whole()
        if status == SUCCEEDED:
            assert is_new, injection
            scene.check_complete()
        outcomes[status] += 1
        scene.check_next()
    said = f"{outcomes[SAID_SO]} said so, {outcomes[SUCCEEDED]} succeeded all the same, 0 lost"
    record_property("counted", f"failed {len(tried)} of {len(every)} calls of a record's save: {said}")
    assert outcomes[SAID_SO]
    assert outcomes[SUCCEEDED]
