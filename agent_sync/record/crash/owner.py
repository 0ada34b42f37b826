"""Whose process works on a task, and whether it still runs: read from /proc where there is one, else from `ps`."""

import os
import platform
import subprocess
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path, PurePath
from typing import Protocol

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record.machine.model import Owner
from agent_sync.record.machine.states import OwnerStanding

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
        """Return a process that lives; ProcessHidden where the system does not say."""


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
        return _printed_by("sysctl", "-n", "kern.bootsessionuuid") or _printed_by("sysctl", "-n", "kern.boottime")

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
    words = _printed_by("ps", "-o", "ppid=,stat=,lstart=,command=", "-p", str(pid)).split()
    if len(words) < _PS_WORDS or words[1][0] in _ENDED:
        return None
    return Process(pid, int(words[0]), " ".join(words[2:_PS_WORDS]), tuple(words[_PS_WORDS:]))


def _printed_by(*command: str) -> str:
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


SHELLS = frozenset({"sh", "dash", "bash", "zsh", "fish"})
# An orphan is handed to one of these, or to process 1, which did not ask for the work and never ends.
_CARETAKERS = frozenset(
    {"init", "systemd", "launchd", "tini", "dumb-init", "docker-init", "catatonit", "conmon", "supervisord", "runsvdir"}
    | {"s6-svscan", "s6-supervise", "containerd-shim", "containerd-shim-runc-v2"}
)
# Programs that run one command and end with it.
WRAPPERS = frozenset(
    {"timeout", "env", "nice", "ionice", "nohup", "setsid", "stdbuf", "time", "chrt", "taskset", "unbuffer", "script"}
    | {"sudo", "doas", "strace", "xargs", "flock", "caffeinate", "gtimeout"}
)
_WITH_VALUE = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
_HIGHEST = 64


def client_process(proc: ProcReader, *, session_id: str = "") -> Owner:
    """Return the nearest ancestor that outlives one command; an owner without number where none is."""
    try:
        found = next((one for one in _ancestors(proc) if not is_transient(one.command)), None)
    except ProcessHidden:
        found = None
    if found is None or _is_caretaker(found):
        return Owner(host=proc.host, boot_id=proc.boot_id, session_id=session_id)
    started = _start_mark(found.started, proc.namespace)
    return Owner(pid=found.pid, started=started, boot_id=proc.boot_id, host=proc.host, session_id=session_id)


def is_above(owner: Owner, proc: ProcReader) -> bool:
    """Tell whether this process was started, however far down, by an owner that lives."""
    if not owner.pid or owner_standing(owner, proc) is not OwnerStanding.ALIVE:
        return False
    try:
        return any(one.pid == owner.pid for one in _ancestors(proc))
    except ProcessHidden:
        return False


def is_other_session(owner: Owner, session_id: str, proc: ProcReader) -> bool:
    """Tell whether an owner is another session that lives, and no shell or script in which the issue was claimed."""
    own = client_process(proc)
    if (owner.pid, owner.started) == (own.pid, own.started) or owner.session_id == session_id or owner.has_left:
        return False
    if owner_standing(owner, proc) is not OwnerStanding.ALIVE:
        return False
    return bool(owner.session_id) or not (is_above(owner, proc) or _is_shell(owner.pid, proc))


def _is_shell(pid: int, proc: ProcReader) -> bool:
    try:
        found = proc.process(pid)
    except ProcessHidden:
        return False
    return found is not None and _program(found.command) in SHELLS


def owner_standing(owner: Owner, proc: ProcReader) -> OwnerStanding:
    """Return whether an owner lives; its number alone proves nothing, since numbers are used again."""
    if owner.host and owner.host != proc.host:
        return OwnerStanding.OTHER_HOST
    if owner.boot_id and proc.boot_id and owner.boot_id != proc.boot_id:
        return OwnerStanding.OTHER_BOOT
    started, _, namespace = owner.started.partition("@")
    # In another namespace the owner may be alive and well, and out of our sight.
    if not owner.pid or not started or namespace != proc.namespace:
        return OwnerStanding.UNKNOWN
    try:
        found = proc.process(owner.pid)
    except ProcessHidden:
        return OwnerStanding.UNKNOWN
    return OwnerStanding.ALIVE if found and found.started == started else OwnerStanding.GONE


def is_transient(command: tuple[str, ...]) -> bool:
    """Tell whether a process is there for one command only: a shell with its line, or a wrapper such as `timeout`."""
    return _program(command) in WRAPPERS or is_transient_shell(command)


def is_transient_shell(command: tuple[str, ...]) -> bool:
    """Tell a shell that was started for one command line from one that runs a script or waits for a person."""
    if not command or PurePath(command[0].removeprefix("-")).name not in SHELLS:
        return False
    arguments = iter(command[1:])
    for argument in arguments:
        if argument in {"-", "--"} or argument[:1] not in {"-", "+"}:
            return False
        if argument.split("=")[0] == "--command" or (argument[0] == "-" and argument[1] != "-" and "c" in argument):
            return True
        if argument in _WITH_VALUE:
            next(arguments, None)
    return False


def _ancestors(proc: ProcReader) -> Iterator[Process]:
    """Return parents, nearest first; the number of steps is limited because processes end while we look."""
    found = proc.process(proc.own_pid)
    for _ in range(_HIGHEST):
        found = proc.process(found.parent) if found and found.parent else None
        if found is None:
            return
        yield found


def _is_caretaker(process: Process) -> bool:
    return process.pid == 1 or _program(process.command) in _CARETAKERS


def _program(command: tuple[str, ...]) -> str:
    """Return the name of a program; one that describes itself in its title is named first there."""
    first = command[0].removeprefix("-").split(" ")[0] if command else ""
    return PurePath(first).name.removesuffix(":")


def _start_mark(started: str, namespace: str) -> str:
    return f"{started}@{namespace}" if namespace else started
