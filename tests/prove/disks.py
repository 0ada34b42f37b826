"""The family of disks: the clone or the home is full, read-only or gone during one step of a whole task."""

import contextlib
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from support.clients import Nursery
from support.disks import run
from support.whole_task import STEPS, Play, Step

from prove.case import Case, Ending, Family, Verdict
from prove.disturbing import played, settle

TROUBLES = ("full", "read-only", "gone")
PLACES = ("clone", "home")
SIZE = "size=64m"


def _names(_nursery: Nursery) -> Sequence[str]:
    return [f"{step.name}/{place}/{trouble}" for step in STEPS for place in PLACES for trouble in TROUBLES]


def _case(name: str) -> Case:
    step, place, trouble = name.split("/")
    return Case(name, functools.partial(_played, step=step, place=place, trouble=trouble), 8.0)


def _played(nursery: Nursery, step: str, place: str, trouble: str) -> Ending:
    """Play the task on a disk of its own, which fails during one step and works again afterwards."""
    if os.geteuid() or not sys.platform.startswith("linux"):
        return Ending(Verdict.SKIPPED, "only root can mount a disk")
    with tempfile.TemporaryDirectory(prefix="agent-sync-prove-") as name, mounted(Path(name)) as refused:
        if refused:
            return Ending(Verdict.SKIPPED, f"disks cannot be mounted here: {refused}")
        return played(nursery, step, functools.partial(with_disk, place=place, trouble=trouble), Path(name) / "disks")


@contextlib.contextmanager
def mounted(directory: Path) -> Iterator[str]:
    """Mount a disk each for the clone and for the home; what lies beside them is on another."""
    with contextlib.ExitStack() as stack:
        where = directory / "disks"
        where.mkdir()
        try:
            for name in ("demo", "home"):
                (directory / "disks" / name).mkdir()
                run("mount", "-t", "tmpfs", "-o", SIZE, "tmpfs", where / name)
                stack.callback(subprocess.run, ["umount", "-l", str(where / name)], capture_output=True, check=False)
        except (OSError, subprocess.CalledProcessError) as error:
            yield str(getattr(error, "stderr", "") or error)
            return
        yield ""


def with_disk(play: Play, step: Step, *, place: str, trouble: str) -> bool:
    """Run a step while the disk of the clone or of the home fails; say that it was reached, as it always is."""
    disk = play.stage.root if place == "clone" else play.home
    with _failing(disk, trouble):
        play.run(step)
        settle(play)
    return True


@contextlib.contextmanager
def _failing(disk: Path, trouble: str) -> Iterator[None]:
    match trouble:
        case "full":
            filler = disk / (".git/filler" if (disk / ".git").exists() else "filler")
            _fill(filler)
            try:
                yield
            finally:
                filler.unlink()
        case "read-only":
            run("mount", "-o", "remount,ro", disk)
            try:
                yield
            finally:
                run("mount", "-o", f"remount,rw,{SIZE}", disk)
        case _:
            with _gone(disk):
                yield


def _fill(filler: Path) -> None:
    with filler.open("wb") as file, contextlib.suppress(OSError):
        while True:
            os.write(file.fileno(), b"x" * 4096)


@contextlib.contextmanager
def _gone(disk: Path) -> Iterator[None]:
    """Hide the disk behind an empty one that cannot be written."""
    run("mount", "-t", "tmpfs", "-o", "ro,size=4k", "tmpfs", disk)
    try:
        yield
    finally:
        run("umount", "-l", disk)


DISKS = Family("disks-task", "the clone's or the home's disk is full, read-only or gone during a step", _names, _case)
