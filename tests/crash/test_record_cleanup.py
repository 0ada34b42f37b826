"""Kills the deletion of a record at the system calls it makes on the way."""

import os
import re
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from support.prove import PROVE
from support.record_directories import OURS, lay_down, left_in, read
from support.records import NOW, fresh_record

from agent_sync.record.disk.cleanup import clean, due, records_in, uniform_retention
from agent_sync.record.disk.deletion import tombstones
from agent_sync.record.machine.progress import abandoned_record

CLEANER = Path(__file__).with_name("record_cleaner.py")
CALLS = "unlink,unlinkat,rmdir,fsync,flock"
LATER, ONE_DAY = NOW + timedelta(days=100), uniform_retention(timedelta(days=1))
_CALL = re.compile(r"^\d+ +(\w+)\(")


def traced(workspace: Path, trace: Path, *options: str) -> list[tuple[str, int]]:
    """Delete what is due under strace; return the calls that were made, each numbered among those of its name."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    tracing = ["strace", "-f", "-o", str(trace), "-e", f"trace={CALLS}", *options]
    done = subprocess.run(
        [*tracing, sys.executable, "-B", str(CLEANER), str(workspace)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in done.stderr:
        pytest.skip(f"strace may not trace here: {done.stderr.strip()}")
    names = [match[1] for line in trace.read_text().splitlines() if (match := _CALL.match(line))]
    return [(name, names[: place + 1].count(name)) for place, name in enumerate(names)]


def test_killed_deletion_is_finished_by_the_next(tmp_path, record_property):
    """Wherever a deletion is killed, the line is there before anything is gone, and the next run leaves no rest."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed: kills at system calls are not tried")
    record = abandoned_record(fresh_record(), "released", NOW)
    trace = tmp_path / "trace"
    lay_down(tmp_path / "whole", record)
    every = traced(tmp_path / "whole", trace)
    tried = every if PROVE else every[::4]
    for number, (name, occurrence) in enumerate(tried):
        workspace = tmp_path / f"killed-{number}"
        directory = lay_down(workspace, record)
        before = left_in(directory)
        traced(workspace, trace, "-e", f"inject={name}:signal=SIGKILL:when={occurrence}")
        assert "killed by SIGKILL" in trace.read_text()
        kept = [stone.task_id for stone in tombstones(workspace)]
        assert kept or left_in(directory) == before
        clean(due(records_in([workspace], read), LATER, ONE_DAY), read, LATER, ONE_DAY)
        assert left_in(directory).isdisjoint(OURS)
        assert [stone.task_id for stone in tombstones(workspace)] == [record.task_id]
    assert tried
    record_property("counted", f"killed a deletion at {len(tried)} of {len(every)} system calls: 0 rests, 0 lost lines")
