"""What the system tells of its processes: from /proc where there is one, else from `ps`."""

import os
import platform
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

_PROC = Path("/proc")
# In /proc/<pid>/stat, counted behind the name, which may hold anything: state, parent, and when it was started.
_STATE, _PARENT, _STARTED = 0, 1, 19
_ENDED = frozenset("ZXx")
_PS_WORDS = 7
_PATIENCE = 5.0


class ProcessHidden(Exception):
    """The system would not say whether there is such a process."""


@dataclass(frozen=True)
class Process:
    """One living process."""

    pid: int
    parent: int
    started: str
    command: tuple[str, ...]


class ProcReader(Protocol):
    """Who we are, on which boot of which machine, and which processes live."""

    @property
    def own_pid(self) -> int:
        """The number of this process."""

    @property
    def boot_id(self) -> str:
        """What changes with every boot; empty where the system does not tell."""

    @property
    def host(self) -> str:
        """The name of the machine."""

    @property
    def namespace(self) -> str:
        """Within which numbers of processes mean the same; empty where there is but one."""

    def process(self, pid: int) -> Process | None:
        """Return a process that lives; ProcessHidden where that cannot be told."""


class SystemProcesses:
    """The processes of this machine."""

    def __init__(self, *, has_proc: bool | None = None) -> None:
        self._has_proc = (_PROC / "self" / "stat").exists() if has_proc is None else has_proc

    @property
    def own_pid(self) -> int:
        """The number of this process."""
        return os.getpid()

    @cached_property
    def boot_id(self) -> str:
        """The kernel's random boot id, or the boot session of macOS."""
        if self._has_proc:
            return _text(_PROC / "sys/kernel/random/boot_id")
        # The time of boot moves when the clock is set; it is the last resort.
        return _said("sysctl", "-n", "kern.bootsessionuuid") or _said("sysctl", "-n", "kern.boottime")

    @property
    def host(self) -> str:
        """The name of the machine."""
        return platform.node()

    @cached_property
    def namespace(self) -> str:
        """The process namespace: a sandbox has its own, and the same number is another process there."""
        try:
            return str((_PROC / "self/ns/pid").readlink()) if self._has_proc else ""
        except OSError:
            return ""

    def process(self, pid: int) -> Process | None:
        """Return a process that lives; one that has ended and was not yet waited for does not."""
        return _from_proc(pid) if self._has_proc else _from_ps(pid)


def _from_proc(pid: int) -> Process | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
        command = (_PROC / str(pid) / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    except OSError as error:
        raise ProcessHidden(str(error)) from error
    words = stat.rpartition(b")")[2].decode().split()
    if words[_STATE] in _ENDED:
        return None
    arguments = command.decode(errors="replace").rstrip("\0").split("\0")
    return Process(pid, int(words[_PARENT]), words[_STARTED], tuple(arguments))


def _from_ps(pid: int) -> Process | None:
    """Read `ppid stat weekday month day time year command …`."""
    words = _said("ps", "-o", "ppid=,stat=,lstart=,command=", "-p", str(pid)).split()
    if len(words) < _PS_WORDS or words[1][0] in _ENDED:
        return None
    return Process(pid, int(words[0]), " ".join(words[2:_PS_WORDS]), tuple(words[_PS_WORDS:]))


def _said(*command: str) -> str:
    """Return what a program of the system prints, in the words of no language; nothing where it fails."""
    environment = {"PATH": os.defpath + ":/usr/sbin:/sbin", "LC_ALL": "C", "TZ": "UTC"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=_PATIENCE)
    except FileNotFoundError:
        return ""
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProcessHidden(str(error)) from error
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
