"""Saves the recovery record on disks that lose power, fill up or cannot be written, and looks at what is left."""

import contextlib
import fcntl
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.disks import run
from support.prove import PROVE
from support.stored_records import LATER, created_once, full_store, noted, saved_once, with_events
from support.traced import TracedWriter, points

from agent_sync.errors import RecordUnavailable
from agent_sync.record.disk.contents import task_json
from agent_sync.record.disk.store import RecordStore
from agent_sync.record.receipts.integrity import Intact
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut

WRITER = Path(__file__).with_name("record_writer.py")
# ext4's own emergency stop: from then on nothing reaches the disk, as if the power had gone.
SHUTDOWN = 0x8004587D
CUTS = {"everything flushed": 0, "journal flushed": 1, "nothing flushed": 2}
# Entering these, a save is about to make something durable, or has just done so.
DURABLE = ("fsync", "rename", "link", "write", "close")


class Disk:
    """A small ext4 disk whose power can be cut."""

    def __init__(self, root: Path, mount) -> None:
        self.image, self.where, self._mount = root / "image", root / "disk", mount
        if not shutil.which("mkfs.ext4"):
            pytest.skip("there is no mkfs.ext4 here: power cuts are not tried")
        with self.image.open("wb") as file:
            file.truncate(16 << 20)
        run("mkfs.ext4", "-q", "-F", self.image)
        self.plug_in()

    def plug_in(self) -> None:
        """Mount it, the journal replayed."""
        self._mount(self.where, "-o", "loop", self.image)

    def cut(self, how: int) -> None:
        """Cut the power and plug it in again."""
        descriptor = os.open(self.where, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", how))
        except OSError as error:
            pytest.skip(f"the power of a disk cannot be cut here: {error}")
        finally:
            os.close(descriptor)
        run("umount", self.where)
        self.plug_in()


@pytest.fixture
def drive(tmp_path, mounts):
    """Return a disk."""
    return Disk(tmp_path, mounts)


def settle(drive):
    """Make sure that what lies on the disk is there, so that only the next save is at stake."""
    run("sync", "-f", drive.where)


@pytest.mark.parametrize("how", CUTS.values(), ids=CUTS)
def test_success_survives_a_power_cut(drive, how, record_property):
    """When a save has returned, its generation is on the disk, with every event, and the next look makes the views."""
    store = RecordStore(drive.where / "workspaces" / "demo" / "tasks" / "task")
    count, times = (60, 7) if PROVE else (210, 2)
    saves = [created_once, *[lambda _: store.update(with_events(count), LATER)] * times, saved_once]
    for save in saves:
        record = save(store.directory) if save in {created_once, saved_once} else save(None)
        drive.cut(how)
        assert store.read() == record
        assert store.integrity(record) == Intact()
        assert store.update(lambda found: found, LATER) == record
        assert record.digest in (store.directory / "HOOK.md").read_text()
        assert (store.directory / "task.json").read_bytes() == task_json(record)
        assert store.damaged_copies() == ()
    record_property("counted", f"cut the power after {len(saves)} saves of a record, mode {how}: all there")


@pytest.mark.parametrize("how", CUTS.values(), ids=CUTS)
def test_each_write_survives_a_power_cut_by_itself(drive, how):
    """A file replaced, a line appended and a directory made are on the disk, even if nothing is written after."""
    directory, file, lines = drive.where / "a" / "b", drive.where / "file", drive.where / "lines"
    files.make_directory(directory, mode=0o700)
    drive.cut(how)
    assert directory.is_dir()
    for content in (b"old", b"new"):
        files.write_atomic(file, content, previous=drive.where / "previous")
        drive.cut(how)
        assert file.read_bytes() == content
    assert (drive.where / "previous").read_bytes() == b"old"
    for number in range(2):
        files.append(lines, b"x\n", at=2 * number, is_durable=True)
        drive.cut(how)
        assert lines.read_bytes() == b"x\n" * (number + 1)


@pytest.mark.parametrize("how", CUTS.values(), ids=CUTS)
def test_a_write_that_may_be_lost_leaves_a_whole_file(drive, how):
    """A file that may be the old one after a power cut is the old or the new one, and never a part of either."""
    file = drive.where / "file"
    files.write_atomic(file, b"old")
    for content in (b"new" * 5000, b"newer" * 5000):
        before = file.read_bytes()
        files.write_atomic(file, content, after_cut=AfterPowerCut.EITHER)
        drive.cut(how)
        assert file.read_bytes() in {before, content}


def test_power_cut_in_the_middle_of_a_save(drive, tmp_path, record_property):
    """Wherever the power goes during a save, the complete old or new generation is there afterwards."""
    template = full_store(tmp_path / "template").directory
    store = RecordStore(drive.where / "task")
    writer = TracedWriter(WRITER, str(store.directory), "update", trace=tmp_path / "trace")
    shutil.copytree(template, store.directory)
    old = store.read()
    every = [point for point in points(writer.write()) if point[0] in DURABLE]
    new = store.read()
    renames = [point for point in every if point[0] == "rename"]
    for mode, how in CUTS.items():
        found = {old.digest: 0, new.digest: 0}
        # With less flushed, more is at stake.
        tried = every if PROVE else renames if mode == "nothing flushed" else [renames[0], renames[-1]]
        for name, number in tried:
            shutil.rmtree(store.directory)
            shutil.copytree(template, store.directory)
            settle(drive)
            writer.write("-e", f"inject={name}:signal=SIGKILL:when={number}")
            drive.cut(how)
            record = store.read()
            found[record.digest] += 1
            assert store.integrity(record) == Intact(), (mode, name, number)
            assert store.damaged_copies() == (), (mode, name, number)
            store.update(lambda one: one.model_copy(update={"branch": "next"}), LATER)
            assert list(store.directory.rglob("*.tmp")) == []
        kept = f"{found[old.digest]} old, {found[new.digest]} new, 0 torn"
        record_property("counted", f"cut the power at {len(tried)} calls of a record's save, {mode}: {kept}")
        assert all(found.values()), mode
    writer.end()


def test_full_disk_costs_nothing(tmp_path, mounts, record_property):
    """With any number of pages left, a save succeeds or says that it did not, and the old generation stays."""
    mounts(tmp_path / "disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs")
    template = full_store(tmp_path / "template").directory
    store = RecordStore(tmp_path / "disk" / "task")
    page, outcomes = 4096, {"old": 0, "new": 0, "succeeded": 0}
    for free in range(0, 45, 1 if PROVE else 9):
        shutil.rmtree(store.directory, ignore_errors=True)
        shutil.copytree(template, store.directory)
        before = store.read()
        filler = tmp_path / "disk" / "filler"
        space = os.statvfs(tmp_path / "disk")
        filler.write_bytes(b"x" * page * max(space.f_bavail - free, 0))
        try:
            after = saved_once(store.directory)
        except RecordUnavailable:
            outcomes["old" if store.read() == before else "new"] += 1
        else:
            outcomes["succeeded"] += 1
            assert store.read() == after
        filler.unlink()
        assert store.integrity(store.read()) == Intact()
        store.update(lambda record: record.model_copy(update={"branch": "next"}), LATER)
        assert list(store.directory.rglob("*.tmp")) == []
    record_property("counted", f"saved a record on a disk with 0 to 44 pages left: {outcomes}")
    assert outcomes["old"]
    assert outcomes["succeeded"]


def test_disk_without_inodes(tmp_path, mounts):
    """A disk that takes no more files says so, and the record stays as it was."""
    mounts(tmp_path / "disk", "-t", "tmpfs", "-o", "size=2m,nr_inodes=20", "tmpfs")
    store = full_store(tmp_path / "disk" / "task")
    before = store.read()
    with contextlib.suppress(OSError):
        for number in range(20):
            (tmp_path / "disk" / str(number)).touch()
    with pytest.raises(RecordUnavailable, match="No space left"):
        store.update(noted(), LATER)
    assert store.read() == before
    for number in range(3):
        (tmp_path / "disk" / str(number)).unlink()
    store.update(noted(), LATER)
    assert list(store.directory.rglob("*.tmp")) == []


def test_read_only_disk(tmp_path, mounts):
    """On a disk that cannot be written a record can be read, even a damaged one, and a save says why it failed."""
    mounts(tmp_path / "disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs")
    store = full_store(tmp_path / "disk" / "task")
    previous = store.read()
    before = store.update(noted(), LATER)
    run("mount", "-o", "remount,ro", tmp_path / "disk")
    assert store.read() == before
    for act in (lambda: store.update(noted(), LATER), lambda: store.create(before), store.rebuild):
        with pytest.raises(RecordUnavailable, match="Read-only"):
            act()
    run("mount", "-o", "remount,rw", tmp_path / "disk")
    (store.directory / "hook.json").write_bytes(b"")
    run("mount", "-o", "remount,ro", tmp_path / "disk")
    assert store.read() == previous
    assert store.damaged_copies() == ()


def test_directory_that_cannot_be_changed(drive):
    """A directory in which nothing may be replaced keeps its record, and the save says so."""
    store = full_store(drive.where / "task")
    before = store.read()
    run("chattr", "+i", store.directory)
    try:
        with pytest.raises(RecordUnavailable, match="not permitted"):
            store.update(noted(), LATER)
        assert store.read() == before
    finally:
        run("chattr", "-i", store.directory)
    store.update(noted(), LATER)
    assert list(store.directory.rglob("*.tmp")) == []


STRANGER = """
import sys
import tempfile
from pathlib import Path
from agent_sync.errors import AgentSyncError
from agent_sync.record.disk.store import RecordStore
store = RecordStore(Path(sys.argv[1]))
for act in (store.read, lambda: store.update(lambda record: record, None)):
    try:
        print(act())
    except AgentSyncError as error:
        print(error.code)
"""


def test_stranger_is_not_told_that_there_is_no_record():
    """Another user, who may not look into the directory, gets an error and not the answer that nothing is there."""
    if os.geteuid() or not shutil.which("setpriv"):
        pytest.skip("only root can become another user, and with setpriv: another user is not tried")
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c", STRANGER]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        store = full_store(Path(name) / "task")
        done = subprocess.run([*command, store.directory], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"another user cannot run this interpreter: {done.stderr[-200:]}")
    assert done.stdout.split() == ["bad-record", "record-unavailable"]
