"""Reads and writes the record of one task so that a crash leaves the complete old or the complete new generation."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent_sync.errors import BadInput, IllegalMove, NoRecord
from agent_sync.record.disk import derived, generations, segments
from agent_sync.record.disk.disk import LOCK_WAIT, disk, held
from agent_sync.record.disk.generations import Found
from agent_sync.record.disk.tasklog import log_events
from agent_sync.record.machine.caps import capped
from agent_sync.record.machine.model import Event, Record
from agent_sync.record.page.outline import outline
from agent_sync.record.receipts.integrity import Integrity, integrity_of, is_vouched_for
from agent_sync.record.secrets import without_secrets
from agent_sync.system import files
from agent_sync.system.files import LockToken

LOCK_NAME = "hook.lock"
# Whatever in these directories is named like the file of a writer that was killed.
_SWEPT = ("*", f"{derived.ARTIFACTS}/*")


@dataclass(frozen=True)
class RecordStore:
    """The directory of one task: hook.json, the generation before it, and all that is made from them."""

    directory: Path
    render: Callable[[Record], str] = outline
    patience: float = LOCK_WAIT

    def read(self) -> Record | None:
        """Return the record, a damaged one replaced by the generation before; None where there never was one."""
        with disk("reading the recovery record"):
            found = generations.latest(self.directory)
        return found.record if found else None

    def create(self, record: Record) -> Record:
        """Write the first generation; a record that is already there is never overwritten."""
        with disk("making the task's directory"):
            files.make_directory(self.directory, mode=0o700)
        with self._locked() as token:
            if self._is_there():
                raise BadInput(f"Task {record.task_id} already has a record.", helps="agent-sync record status")
            with disk("writing the first recovery record"):
                self.directory.chmod(0o700)
                self._sweep(token)
            return self._write(token, None, without_secrets(record))

    def update(self, change: Callable[[Record], Record], now: datetime) -> Record:
        """Replace the record by what `change` makes of it, under the lock; an equal one writes nothing at all."""
        with self._existing() as (token, found):
            changed = without_secrets(change(found.record))
            if changed == found.record:
                return found.record
            _refuse_shortened(found.record, changed)
            return self._write(token, found, changed.model_copy(update={"updated_at": now}))

    def rebuild(self) -> bool:
        """Make HOOK.md and task.json anew where they are not what the record says; tell whether that was so."""
        with self._existing() as (_, found), disk("writing HOOK.md"):
            return derived.write_derived(self.directory, found.record, self.render(found.record))

    def archived(self) -> list[Event]:
        """Return the events that hook.json has let go of, oldest first."""
        record = self.read()
        return self._archived(record) if record else []

    def integrity(self, record: Record) -> Integrity:
        """Return whether the record, with all its archived events, is as agent-sync wrote it."""
        return integrity_of(record, self._archived(record))

    def quarantined(self) -> tuple[Path, ...]:
        """Return the copies of damaged generations."""
        return generations.quarantined(self.directory)

    def _archived(self, record: Record) -> list[Event]:
        with disk("reading the archived events"):
            return segments.archived(self.directory, record)

    def _write(self, token: LockToken, before: Found | None, changed: Record) -> Record:
        record, moved_out = capped(changed)
        record, content = generations.sealed(record)
        text = self.render(record)
        with disk("writing hook.json, which is as it was"):
            note = self._note(before)
            derived.write_receipts(self.directory, before.record if before else None, changed)
            segments.store_events(self.directory, moved_out)
        with disk("writing hook.json"):
            self._replace(token, content, before)
        with disk("writing what is made from hook.json, which itself is saved"):
            derived.write_derived(self.directory, record, text)
            log_events(self.directory, before.record if before else None, changed, note=note)
        return record

    def _replace(self, token: LockToken, content: bytes, before: Found | None) -> None:
        token.proven(self.directory / LOCK_NAME)
        # A damaged generation must not push out the good one before it.
        keep = None if before is None or before.is_previous else self.directory / generations.PREVIOUS
        files.write_atomic(self.directory / generations.NAME, content, previous=keep)

    def _note(self, before: Found | None) -> str:
        """Return what task.log must say of the generation this write goes on from."""
        if before is None:
            return ""
        if before.is_previous and before.damaged is None:
            return "hook.json was gone; the generation before it was used"
        if before.damaged is not None:
            copy = generations.quarantine(self.directory, before.damaged)
            return f"hook.json was damaged; the generation before it was used, and a copy kept as {copy.name}"
        return "" if is_vouched_for(before.record) else "hook.json had been changed outside agent-sync"

    @contextlib.contextmanager
    def _existing(self) -> Iterator[tuple[LockToken, Found]]:
        """Hold the lock and hand out the record; nothing is made where there is none."""
        if not self._is_there():
            raise NoRecord(f"There is no record in {self.directory}.", helps="agent-sync record status")
        with self._locked() as token:
            with disk("reading the recovery record"):
                self._sweep(token)
                found = generations.latest(self.directory)
            if found is None:
                raise NoRecord(f"The record in {self.directory} is gone.", helps="agent-sync record status")
            yield token, found

    def _locked(self) -> contextlib.AbstractContextManager[LockToken]:
        return held(self.directory / LOCK_NAME, "writing the recovery record", wait=self.patience)

    def _is_there(self) -> bool:
        with disk("looking for the recovery record"):
            return generations.is_there(self.directory)

    def _sweep(self, token: LockToken) -> None:
        for name in _SWEPT:
            files.sweep_temporaries(token, self.directory / name)


def _refuse_shortened(before: Record, after: Record) -> None:
    if after.history[: len(before.history)] != before.history or after.archive != before.archive:
        message = "A change would have rewritten the history, which can only grow."
        raise IllegalMove(message, attempted=f"writing task {before.task_id}", helps="agent-sync record status")
