"""One run at a time: a lock the system frees with its process, and the file other tools look for."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from agent_sync.system import disk, files
from agent_sync.system.processes import Processes
from agent_sync.worktree import GATE_LOCK, GATE_RUN_LOCK, Place

# A lock that does not say whose it is counts this long.
NAMELESS_S = 600
_PS_LIMIT = 5
_LONGEST_PID = 10


@contextlib.contextmanager
def alone(place: Place, log_dir: Path) -> Iterator[bool]:
    """Hold the run lock if nobody does, and tell whether that is so; what a killed run left does not count."""
    with files.locked_if_free(Path(place.state_dir) / GATE_LOCK) as is_free:
        if not is_free or holder(log_dir) is not None:
            yield False
            return
        file = log_dir / GATE_RUN_LOCK
        _put(file)
        try:
            yield True
        finally:
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)


def _put(file: Path) -> None:
    """Put the lock there with its owner already in it: one that a kill or a full disk left empty would count."""
    disk.sweep(file, is_locked=True)
    temporary = disk.temporary_of(file)
    try:
        temporary.write_text(f"{os.getpid()}\n{_started(os.getpid())}\n", encoding="utf-8")
        temporary.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def holder(log_dir: Path) -> str | None:
    """Return who holds the run lock, or None where nobody alive does."""
    file = log_dir / GATE_RUN_LOCK
    try:
        content = files.read_plain(file)
        age = time.time() - file.stat().st_mtime
    except (files.NotPlain, OSError):
        return None
    text = (content or b"").decode("utf-8", "replace")
    pid, _, began = text.strip().partition("\n")
    if not (pid.isascii() and pid.isdigit() and len(pid) <= _LONGEST_PID and int(pid)):
        return "an unnamed process" if age < NAMELESS_S else None
    if not _is_alive(int(pid)) or (began and began != _started(int(pid))):
        return None
    return f"process {pid}"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _started(pid: int) -> str:
    """Return when a process began, in whatever form the system tells it: numbers are used again, moments are not."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return _started_by_ps(pid)
    # A process that has ended and waits to be collected holds nothing.
    return "ended" if fields[0] == "Z" else f"{boot}/{fields[19]}"


def _started_by_ps(pid: int) -> str:
    try:
        done = Processes().run(
            ["ps", "-o", "lstart=", "-p", str(pid)], directory="/", environment=os.environ, timeout=_PS_LIMIT
        )
    except (OSError, TimeoutError):
        return ""
    return " ".join(done.stdout.split())
