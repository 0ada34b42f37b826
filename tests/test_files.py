"""Writing files whole, on systems that take bytes as they like."""

import os

import pytest

from agent_sync.system import disk, files
from agent_sync.system.scratch import scratch_file

TEXT = bytes(range(256)) * 40


@pytest.mark.parametrize("most", [1, 7, 4096])
def test_short_writes_lose_no_byte(tmp_path, most):
    """A system that takes a few bytes at a time gets the rest until it has them all."""
    with (tmp_path / "file").open("wb") as file:
        disk.write_all(file.fileno(), TEXT, lambda descriptor, rest: os.write(descriptor, rest[:most]))
    assert (tmp_path / "file").read_bytes() == TEXT


SYSTEMS = {
    "takes nothing": lambda _, rest: len(rest[:0]),
    "takes less than it says": lambda descriptor, rest: os.write(descriptor, rest[:5]) and len(rest),
}


@pytest.mark.parametrize("write", SYSTEMS.values(), ids=SYSTEMS)
def test_lost_bytes_are_noticed(tmp_path, write):
    """Bytes that did not arrive are an error, not an endless wait or a short file."""
    with (tmp_path / "file").open("wb") as file, pytest.raises(OSError, match="written"):
        disk.write_all(file.fileno(), TEXT, write)


def test_append_overwrites_remains(tmp_path):
    """An append puts its lines where it is told, in place of remains, and makes a new file where there is none."""
    file = tmp_path / "lines"
    files.append(file, b"one\n", at=0, is_durable=True)
    file.write_bytes(b"one\ntorn")
    files.append(file, b"two\n", at=4, is_durable=False)
    assert file.read_bytes() == b"one\ntwo\n"


def test_previous_generation_has_its_own_bytes(tmp_path):
    """What is replaced is kept under its second name, also when that already names it."""
    file, previous = tmp_path / "file", tmp_path / "previous"
    files.write_atomic(file, b"1", previous=previous)
    assert not previous.exists()
    files.write_atomic(file, b"2", previous=previous)
    previous.unlink()
    previous.hardlink_to(file)
    files.write_atomic(file, b"3", previous=previous)
    assert (file.read_bytes(), previous.read_bytes()) == (b"3", b"2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "previous"]


@pytest.mark.parametrize("place", ["a directory", "no directory"])
def test_scratch_file_has_no_name(tmp_path, monkeypatch, place):
    """What is written is read back, and nothing is left; a temporary directory that is not there is no obstacle."""
    monkeypatch.setenv("TMPDIR", str(tmp_path if place == "a directory" else tmp_path / "none"))
    with scratch_file() as file:
        file.write(b"kept")
        file.seek(0)
        assert file.read() == b"kept"
        assert list(tmp_path.iterdir()) == []
