"""Reads and writes the record of one task so that a crash leaves the complete old or the complete new generation."""

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import NamedTuple

from agent_sync.errors import BadInput, BadRecord, IllegalMove, NoRecord, RecordUnavailable, WrongState
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.record.disk import contents
from agent_sync.record.disk.archive import archive_events, archived_events, last_archived
from agent_sync.record.disk.contents import LARGEST
from agent_sync.record.machine.machine import digest, is_digest_right, with_move
from agent_sync.record.machine.model import Event, Record
from agent_sync.record.machine.states import TERMINAL, RecordMove
from agent_sync.record.receipts.integrity import Integrity, Restored, integrity_of, recent_integrity_of
from agent_sync.system import files
from agent_sync.system.files import LockToken

LOCK_WAIT = 5.0


@contextlib.contextmanager
def disk_errors(doing: str) -> Iterator[None]:
    """Raise RecordUnavailable for a disk that is full, broken, read-only or not ours."""
    try:
        yield
    except (OSError, files.NotPlain) as error:
        reason = getattr(error, "strerror", None) or str(error)
        where = f" ({error.filename})" if isinstance(error, OSError) and error.filename else ""
        message = f"The disk refused: {reason}{where}."
        raise RecordUnavailable(message, attempted=doing, helps="agent-sync doctor") from error


@contextlib.contextmanager
def hold_lock(lock: Path, doing: str, *, wait: float = LOCK_WAIT) -> Iterator[LockToken]:
    """Hold a lock of the records and hand out the proof; LockHeld where it is not released in time."""
    stack = contextlib.ExitStack()
    with disk_errors(doing):
        token = stack.enter_context(files.locked(lock, wait=wait, doing=doing))
    try:
        yield token
    finally:
        with disk_errors(doing):
            stack.close()


HOOK_JSON = "hook.json"
PREVIOUS = "hook.json.prev"
_LAST_SECOND = 253402300799
_WAY_OUT = "agent-sync record recover"


@dataclass(frozen=True)
class Generation:
    """A record, and the bytes of the damaged hook.json it stands in for, if it does."""

    record: Record
    damaged: bytes | None = None
    is_previous: bool = False


def has_record(directory: Path) -> bool:
    """Tell whether a directory holds a record, usable or not; a disk that does not answer has not said no."""
    for name in (HOOK_JSON, PREVIOUS):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            (directory / name).lstat()
            return True
    return False


def latest_generation(directory: Path) -> Generation | None:
    """Return the newest generation that can be used; None only where none was ever written."""
    content = _content(directory / HOOK_JSON)
    if content is None:
        return _previous(directory, None, f"{HOOK_JSON} is gone")
    try:
        return Generation(parse(content))
    except ValueError as error:
        # Reading must work on a disk that takes no copy; a write makes the copy first, or fails.
        with contextlib.suppress(OSError, files.NotPlain):
            quarantine(directory, content)
        return _previous(directory, content, _reason(content, error))


def parse(content: bytes) -> Record:
    """Return the record in the bytes of a hook.json; ValueError where there is none."""
    return Record.model_validate_json(content)


def seal(record: Record) -> tuple[Record, bytes]:
    """Return the record as it will be read again, with its digest, and its bytes."""
    try:
        readable = parse(record.model_dump_json().encode())
    except ValueError as error:
        message = f"The record would not be readable: {str(error).splitlines()[0]}."
        raise BadInput(message, attempted=f"writing task {record.task_id}", helps="agent-sync record status") from error
    whole = readable.model_copy(update={"digest": digest(readable)})
    return whole, whole.model_dump_json(indent=2).encode() + b"\n"


def quarantine(directory: Path, content: bytes) -> Path:
    """Keep a copy of a damaged hook.json, named by when it was last written: the same damage is kept once."""
    at = min(max((directory / HOOK_JSON).stat().st_mtime, 0), _LAST_SECOND)
    stamp = f"{HOOK_JSON}.damaged-{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%SZ}"
    for number in count(1):
        copy = directory / (stamp if number == 1 else f"{stamp}-{number}")
        kept = files.read_own(copy, largest=LARGEST)
        if kept is None:
            files.write_atomic(copy, content)
        if kept is None or kept == content:
            return copy
    raise AssertionError


def damaged_copies(directory: Path) -> tuple[Path, ...]:
    """Return the copies of damaged generations that lie in a task's directory."""
    return tuple(sorted(path for path in directory.glob(f"{HOOK_JSON}.damaged-*") if path.suffix != ".tmp"))


def _previous(directory: Path, damaged: bytes | None, reason: str) -> Generation | None:
    content = _content(directory / PREVIOUS)
    if content is None and damaged is None:
        return None
    with contextlib.suppress(ValueError):
        return Generation(parse(content or b""), damaged, is_previous=True)
    message = f"{directory / HOOK_JSON} cannot be used: {reason}. Nor can the generation before it; both are kept."
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


LOCK_NAME = "hook.lock"
# Whatever in these directories is named like the file of a writer that was killed.
_SWEPT = ("*", f"{contents.ARTIFACTS}/*")


@dataclass(frozen=True)
class RecordStore:
    """The directory of one task: hook.json, the generation before it, and all that is made from them."""

    directory: Path
    render: Callable[[Record], str] = contents.outline
    patience: float = LOCK_WAIT

    def read(self) -> Record | None:
        """Return the record, a damaged one replaced by the generation before; None where there never was one."""
        with disk_errors("reading the recovery record"):
            found = latest_generation(self.directory)
        return found.record if found else None

    def create(self, record: Record) -> Record:
        """Write the first generation; a record that is already there is never overwritten."""
        with disk_errors("making the task's directory"):
            files.make_directory(self.directory, mode=0o700)
        with self._locked() as token:
            if self._is_there():
                raise WrongState(f"Task {record.task_id} already has a record.", helps="agent-sync record status")
            with disk_errors("writing the first recovery record"):
                self.directory.chmod(0o700)
                self._sweep(token)
            return self._write(token, None, contents.without_secrets(record))

    def update(self, change: Callable[[Record], Record], now: datetime) -> Record:
        """Replace the record by what `change` makes of it, under the lock; an equal one is not written again."""
        with self._existing() as (token, found):
            changed = contents.without_secrets(change(_with_trouble_noted(found, now)))
            if changed == found.record:
                with disk_errors("writing HOOK.md"):
                    contents.make_lost(self.directory, found.record, self.render)
                return found.record
            _refuse_shortened(found.record, changed)
            return self._write(token, found, changed.model_copy(update={"updated_at": max(now, changed.updated_at)}))

    def rebuild(self) -> bool:
        """Make HOOK.md and task.json anew where they are not what the record says; tell whether that was so."""
        with self._existing() as (_, found), disk_errors("writing HOOK.md"):
            return contents.write_derived(self.directory, found.record, self.render(found.record))

    def archived_events(self) -> list[Event]:
        """Return the events that were moved out of hook.json, oldest first."""
        record = self.read()
        return self._archived(record) if record else []

    def integrity(self, record: Record, *, is_whole: bool = True) -> Integrity:
        """Return whether the record is as agent-sync wrote it, with all its archived events or the last of them."""
        with disk_errors("reading the recovery record"):
            found = latest_generation(self.directory)
        if found and found.is_previous:
            return Restored(HOOK_JSON)
        record = found.record if found else record
        if is_whole or not record.archive.events:
            return integrity_of(record, self._archived(record))
        with disk_errors("reading the archived events"):
            return recent_integrity_of(record, last_archived(self.directory, record))

    def damaged_copies(self) -> tuple[Path, ...]:
        """Return the copies of damaged generations."""
        return damaged_copies(self.directory)

    def _archived(self, record: Record) -> list[Event]:
        with disk_errors("reading the archived events"):
            return archived_events(self.directory, record)

    def _write(self, token: LockToken, before: Generation | None, changed: Record) -> Record:
        record, moved_out = contents.within_caps(changed)
        record, content = seal(record)
        text = self.render(record)
        with disk_errors("writing hook.json, which is as it was"):
            note = self._note(before)
            contents.write_receipts(self.directory, before.record if before else None, changed)
            if moved_out:
                archive_events(self.directory, moved_out)
        with disk_errors("writing hook.json"):
            self._replace(token, content, before)
        with disk_errors("writing what is made from hook.json, which itself is saved"):
            contents.write_derived(self.directory, record, text)
            contents.log_events(self.directory, before.record if before else None, changed, note=note)
        return record

    def _replace(self, token: LockToken, content: bytes, before: Generation | None) -> None:
        token.proven(self.directory / LOCK_NAME)
        # A damaged generation must not push out the good one before it.
        keep = None if before is None or before.is_previous else self.directory / PREVIOUS
        files.write_atomic(self.directory / HOOK_JSON, content, previous=keep)

    def _note(self, before: Generation | None) -> str:
        """Return what task.log must say of the generation this write replaces."""
        if before is None:
            return ""
        if before.is_previous and before.damaged is None:
            return "hook.json was gone; the generation before it was used"
        if before.damaged is not None:
            copy = quarantine(self.directory, before.damaged)
            return f"hook.json was damaged; the generation before it was used, and a copy kept as {copy.name}"
        return "" if is_digest_right(before.record) else "hook.json had been changed outside agent-sync"

    @contextlib.contextmanager
    def _existing(self) -> Iterator[tuple[LockToken, Generation]]:
        """Hold the lock and hand out the record; nothing is made where there is none."""
        if not self._is_there():
            raise NoRecord(f"There is no record in {self.directory}.", helps="agent-sync record status")
        with self._locked() as token:
            with disk_errors("reading the recovery record"):
                self._sweep(token)
                found = latest_generation(self.directory)
            if found is None:
                raise NoRecord(f"The record in {self.directory} is gone.", helps="agent-sync record status")
            yield token, found

    def _locked(self) -> contextlib.AbstractContextManager[LockToken]:
        return hold_lock(self.directory / LOCK_NAME, "writing the recovery record", wait=self.patience)

    def _is_there(self) -> bool:
        with disk_errors("looking for the recovery record"):
            return has_record(self.directory)

    def _sweep(self, token: LockToken) -> None:
        for name in _SWEPT:
            files.sweep_temporaries(token, self.directory / name)


class OpenRecord(NamedTuple):
    """A record, and where it is kept."""

    store: RecordStore
    record: Record


def _with_trouble_noted(found: Generation, now: datetime) -> Record:
    """Return the record with an event that tells what was wrong with its file, so that no later write hides it."""
    record = found.record
    if record.state in TERMINAL:
        return record
    if not is_digest_right(record):
        record = with_move(record, RecordMove.CHANGED_OUTSIDE, now, digest=record.digest, found=digest(record))
    if found.is_previous:
        was = "damaged" if found.damaged is not None else "gone"
        record = with_move(record, RecordMove.RESTORED, now, file=HOOK_JSON, was=was)
    return record


def _refuse_shortened(before: Record, after: Record) -> None:
    if after.history[: len(before.history)] != before.history or after.archive != before.archive:
        message = "A change would have rewritten the history, which can only grow."
        raise IllegalMove(message, attempted=f"writing task {before.task_id}", helps="agent-sync record status")
