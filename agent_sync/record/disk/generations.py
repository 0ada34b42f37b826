"""hook.json and the generation before it: which of the two is to be used, and what becomes of a damaged one."""

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from agent_sync.errors import BadInput, BadRecord
from agent_sync.record.machine.chain import digest
from agent_sync.record.machine.model import Record
from agent_sync.system import files

NAME = "hook.json"
PREVIOUS = "hook.json.prev"
# Far above what the caps allow; reading stops here, so that a runaway file cannot eat the memory.
LARGEST = 64 << 20
_LAST_SECOND = 253402300799
_WAY_OUT = "agent-sync record recover"


@dataclass(frozen=True)
class Found:
    """A record, and the bytes of the damaged hook.json it stands in for, if it does."""

    record: Record
    damaged: bytes | None = None
    is_previous: bool = False


def is_there(directory: Path) -> bool:
    """Tell whether a directory holds a record, usable or not; a disk that does not answer has not said no."""
    for name in (NAME, PREVIOUS):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            (directory / name).lstat()
            return True
    return False


def latest(directory: Path) -> Found | None:
    """Return the newest generation that can be used; None only where none was ever written."""
    content = _content(directory / NAME)
    if content is None:
        return _previous(directory, None, f"{NAME} is gone")
    try:
        return Found(parsed(content))
    except ValueError as error:
        # Reading must work on a disk that takes no copy; a write makes the copy first, or fails.
        with contextlib.suppress(OSError, files.NotPlain):
            quarantine(directory, content)
        return _previous(directory, content, _reason(content, error))


def parsed(content: bytes) -> Record:
    """Return the record in the bytes of a hook.json; ValueError where there is none."""
    return Record.model_validate_json(content)


def sealed(record: Record) -> tuple[Record, bytes]:
    """Return the record as it will be read again, with its digest, and its bytes."""
    try:
        readable = parsed(record.model_dump_json().encode())
    except ValueError as error:
        message = f"The record would not be readable: {str(error).splitlines()[0]}."
        raise BadInput(message, attempted=f"writing task {record.task_id}", helps="agent-sync record status") from error
    whole = readable.model_copy(update={"digest": digest(readable)})
    return whole, whole.model_dump_json(indent=2).encode() + b"\n"


def quarantine(directory: Path, content: bytes) -> Path:
    """Keep a copy of a damaged hook.json, named by when it was last written: the same damage is kept once."""
    at = min(max((directory / NAME).stat().st_mtime, 0), _LAST_SECOND)
    stamp = f"{NAME}.damaged-{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%SZ}"
    for number in count(1):
        copy = directory / (stamp if number == 1 else f"{stamp}-{number}")
        kept = files.read_own(copy, largest=LARGEST)
        if kept is None:
            files.write_atomic(copy, content)
        if kept is None or kept == content:
            return copy
    raise AssertionError


def quarantined(directory: Path) -> tuple[Path, ...]:
    """Return the copies of damaged generations that lie in a task's directory."""
    return tuple(sorted(path for path in directory.glob(f"{NAME}.damaged-*") if path.suffix != ".tmp"))


def _previous(directory: Path, damaged: bytes | None, reason: str) -> Found | None:
    content = _content(directory / PREVIOUS)
    if content is None and damaged is None:
        return None
    with contextlib.suppress(ValueError):
        return Found(parsed(content or b""), damaged, is_previous=True)
    message = f"{directory / NAME} cannot be used: {reason}. Nor can the generation before it; both are kept."
    raise BadRecord(message, attempted="reading the recovery record", helps=_WAY_OUT)


def _content(file: Path) -> bytes | None:
    try:
        return files.read_own(file, largest=LARGEST)
    except files.NotPlain as reason:
        message = f"{file} is refused: {reason}."
        raise BadRecord(message, attempted="reading the recovery record", helps=_WAY_OUT) from reason


def _reason(content: bytes, error: ValueError) -> str:
    if not content.strip(b"\0 \t\r\n"):
        return "it is empty" if not content.strip() else "it holds nothing but zero bytes"
    return str(error).splitlines()[0]
