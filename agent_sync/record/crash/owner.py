"""On whose behalf work is done: the client's process, and whether it still lives."""

from collections.abc import Iterator
from pathlib import PurePath

from agent_sync.record.crash.proc import Process, ProcessHidden, ProcReader
from agent_sync.record.machine.model import Owner
from agent_sync.record.machine.states import Standing

SHELLS = frozenset({"sh", "dash", "bash", "zsh", "fish"})
# An orphan is handed to one of these, which did not ask for the work and never ends.
_CARETAKERS = frozenset({"init", "systemd", "launchd", "tini", "dumb-init", "docker-init", "catatonit"})
_WITH_VALUE = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
_HIGHEST = 64


def client_process(proc: ProcReader, *, session_id: str = "") -> Owner:
    """Return the nearest ancestor that is no shell run for one command; an owner without number where none is."""
    try:
        found = next((one for one in _ancestors(proc) if not is_transient_shell(one.command)), None)
    except ProcessHidden:
        found = None
    if found is None or _is_caretaker(found):
        return Owner(host=proc.host, boot_id=proc.boot_id, session_id=session_id)
    started = _marked(found.started, proc.namespace)
    return Owner(pid=found.pid, started=started, boot_id=proc.boot_id, host=proc.host, session_id=session_id)


def is_above(owner: Owner, proc: ProcReader) -> bool:
    """Tell whether this process was started, however far down, by an owner that lives."""
    if not owner.pid or standing(owner, proc) is not Standing.ALIVE:
        return False
    try:
        return any(one.pid == owner.pid for one in _ancestors(proc))
    except ProcessHidden:
        return False


def standing(owner: Owner, proc: ProcReader) -> Standing:
    """Return whether an owner lives; its number alone proves nothing, since numbers are used again."""
    if owner.host and owner.host != proc.host:
        return Standing.OTHER_HOST
    if owner.boot_id and proc.boot_id and owner.boot_id != proc.boot_id:
        return Standing.OTHER_BOOT
    started, _, namespace = owner.started.partition("@")
    # In another namespace the owner may be alive and well, and out of our sight.
    if not owner.pid or not started or namespace != proc.namespace:
        return Standing.UNKNOWN
    try:
        found = proc.process(owner.pid)
    except ProcessHidden:
        return Standing.UNKNOWN
    return Standing.ALIVE if found and found.started == started else Standing.GONE


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
    name = PurePath(process.command[0]).name if process.command else ""
    return process.pid == 1 and name in _CARETAKERS


def _marked(started: str, namespace: str) -> str:
    return f"{started}@{namespace}" if namespace else started
