"""What hook.json may hold, what is written beside it, and the input of quiet hooks that waits to be taken in."""

import json
import os
from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path
from typing import NamedTuple

from agent_sync.errors import BadInput
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.plain.json_reading import read_json
from agent_sync.quiet import answer as quiet
from agent_sync.record.machine.machine import count_of
from agent_sync.record.machine.model import Archive, Event, Record, Value
from agent_sync.record.machine.states import TERMINAL
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.system import disk, files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.system.masking import masked
from agent_sync.worktree import Place, spool_file

HOOK_MD = "HOOK.md"
TASK_JSON = "task.json"
ARTIFACTS = "artifacts"
# Held while a validation runs; until its receipt has a number, its output is kept under this name.
VALIDATION_LOCK = "validate.lock"
VALIDATING = "validating"
# Far above what the caps allow; reading stops here, so that a runaway file cannot eat the memory.
LARGEST = 64 << 20
_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def write_derived(directory: Path, record: Record, text: str) -> bool:
    """Bring HOOK.md and task.json up to date and tell whether one was not; what is right is not touched."""
    again = AfterPowerCut.ANY
    is_new_view = _write_new(directory / HOOK_MD, text.encode("utf-8", "backslashreplace"), after_cut=again)
    is_new_task = _write_new(directory / TASK_JSON, task_json(record), after_cut=again)
    return is_new_view or is_new_task


def make_lost(directory: Path, record: Record, render: Callable[[Record], str]) -> None:
    """Make HOOK.md and task.json anew where they are not of this record: a power cut may have taken them."""
    view, task = (files.read_own(directory / name, largest=LARGEST) or b"" for name in (HOOK_MD, TASK_JSON))
    if record.digest.encode() not in view or b"\0" in view or task != task_json(record):
        write_derived(directory, record, render(record))


def task_json(record: Record) -> bytes:
    """Return what a task is and how it ended, as task.json holds it."""
    is_over = record.state in TERMINAL
    values = {
        "task_id": record.task_id,
        "workspace": record.workspace,
        "task_index": record.task_index,
        "description": record.description,
        "template": record.template,
        "steps": [{"name": step.name, "idempotent": step.idempotent} for step in record.steps],
        "issue_number": record.issue_number,
        "branch": record.branch,
        "worktree": record.worktree,
        "created_at": record.created_at.isoformat(),
        "outcome": record.state if is_over else None,
        "finished_at": record.updated_at.isoformat() if is_over else None,
    }
    return json.dumps(values, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def write_receipts(directory: Path, before: Record | None, after: Record) -> None:
    """Keep each new receipt in a file of its own, because hook.json keeps the newest only."""
    known = {receipt.receipt_id for receipt in before.receipts} if before else set()
    # It becomes durable with the hook.json that is written next.
    files.private_directory(directory / ARTIFACTS)
    for receipt in after.receipts:
        if receipt.receipt_id not in known:
            _write_new(receipt_file(directory, receipt), receipt.model_dump_json(indent=2).encode() + b"\n")


def receipt_file(directory: Path, receipt: Receipt) -> Path:
    """Return where the copy of a receipt is."""
    if not _NAME.fullmatch(receipt.receipt_id):
        raise BadInput(f"{receipt.receipt_id!r} cannot be the id of a receipt.", helps="agent-sync record status")
    return directory / ARTIFACTS / f"{receipt.receipt_id}.json"


def _write_new(file: Path, content: bytes, *, after_cut: AfterPowerCut = AfterPowerCut.NEW) -> bool:
    if file.is_file() and not file.is_symlink() and files.read_own(file, largest=LARGEST) == content:
        return False
    files.write_atomic(file, content, after_cut=after_cut)
    return True


TASK_LOG = "task.log"


def log_events(directory: Path, before: Record | None, after: Record, *, note: str = "") -> None:
    """Append a line for each new event, after those a killed writer has left out, and after a note if there is one."""
    file = directory / TASK_LOG
    end = file_end(file)
    known = count_of(before) if before else 0
    first = 0 if end.number is None else min(end.number + 1, known)
    lines = [_note_line(note, after)] if note else []
    lines += [_line(event) for event in after.history if event.seq >= first]
    if lines:
        files.append(file, b"".join(lines), at=end.offset, is_durable=False)


def _note_line(note: str, after: Record) -> bytes:
    return _json({"at": after.updated_at.isoformat(), "note": note})


def _line(event: Event) -> bytes:
    short = {key: value for key, value in event.details.items() if isinstance(value, str | int)}
    values: dict[str, object] = {
        "at": event.timestamp.isoformat(),
        "seq": event.seq,
        "event": event.trigger,
        "from": event.from_state,
        "to": event.to_state,
        "step": event.step_name,
        "details": short,
    }
    return _json({key: value for key, value in values.items() if value not in ("", None, {})})


def _json(values: dict[str, object]) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


# Holds many a line; a file is read from its start only if not even one fits.
_TAIL = 1 << 16


def number_of(line: bytes) -> int | None:
    """Return the `seq` of a line, or None where it has none or is no JSON object."""
    try:
        value = read_json(line)
    except ValueError:
        return None
    found = value.get("seq") if isinstance(value, dict) else None
    return found if isinstance(found, int) else None


class FileEnd(NamedTuple):
    """Where the last whole line of a file ends, and the number of the last line that has one."""

    offset: int
    number: int | None


class _Tail(NamedTuple):
    start: int
    content: bytes


def file_end(path: Path) -> FileEnd:
    """Return where a file of numbered lines ends; half a line, which a killed writer left, is not counted."""
    tail = _tail(path, _TAIL)
    if tail is None or b"\n" not in tail.content:
        tail = _tail(path, None)
    if tail is None:
        return FileEnd(0, None)
    complete = tail.content[: tail.content.rfind(b"\n") + 1]
    numbers = (number_of(line) for line in reversed(complete.splitlines()))
    return FileEnd(tail.start + len(complete), next((number for number in numbers if number is not None), None))


def last_lines(path: Path) -> list[bytes]:
    """Return the last lines of a file that were written to their end; the first of them may lack its beginning."""
    tail = _tail(path, _TAIL)
    return tail.content.split(b"\n")[:-1] if tail else []


def _tail(path: Path, size: int | None) -> _Tail | None:
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            start = 0 if size is None else max(0, end - size)
            file.seek(start)
            return _Tail(start, file.read())
    except FileNotFoundError:
        return None


EVENTS = 256
CHECKPOINTS = 64
RECEIPTS = 64


def within_caps(record: Record) -> tuple[Record, tuple[Event, ...]]:
    """Return the record as hook.json may hold it, and the events that no longer have a place in it."""
    moved_out = record.history[:-EVENTS]
    changes: dict[str, object] = {}
    if moved_out:
        count = record.archive.events + len(moved_out)
        changes["archive"] = Archive(events=count, head=moved_out[-1].hash)
        changes["history"] = record.history[-EVENTS:]
    if len(record.checkpoints) > CHECKPOINTS:
        changes["checkpoints"] = record.checkpoints[-CHECKPOINTS:]
    if len(record.receipts) > RECEIPTS:
        changes["receipts"] = record.receipts[-RECEIPTS:]
    return (record.model_copy(update=changes) if changes else record), moved_out


def without_secrets(record: Record) -> Record:
    """Return the record with every text masked that somebody wrote or printed."""
    changes: dict[str, object] = _changes(record, "description", "waiting_for")
    if record.current_step:
        found = _changes(record.current_step, "prompt", "working_on", "last_output")
        changes |= {"current_step": record.current_step.model_copy(update=found)} if found else {}
    if record.recovery:
        found = _changes(record.recovery, "validation_cmd", "partial_output", "reason", "outside")
        changes |= {"recovery": record.recovery.model_copy(update=found)} if found else {}
    points = tuple(point.model_copy(update=_changes(point, "description")) for point in record.checkpoints)
    changes |= {"checkpoints": points} if points != record.checkpoints else {}
    return record.model_copy(update=changes) if changes else record


def _changes(value: Value, *names: str) -> dict[str, object]:
    texts = {name: str(getattr(value, name)) for name in names}
    return {name: masked(text) for name, text in texts.items() if masked(text) != text}


def outline(record: Record) -> str:
    """Return task, state and source of a record as Markdown."""
    return f"# {record.task_id}\n\nState: `{record.state}`\n\n<!-- hook.json {record.digest} -->\n"


# The hooks whose input is kept, and the field that is wanted.
_WORDS_IN = {"on-stop": "last_assistant_message", "on-prompt": "prompt", "on-end": "session_id"}


@dataclass(frozen=True)
class Occasion:
    """What woke the record: a session at work, with what was said in it, or anything else."""

    session_id: str = ""
    said: str = ""
    prompt: str = ""
    # Whether somebody works on the task now, and so owns it.
    is_work: bool = False
    # Whether whoever works has said that they follow the advice after a crash.
    resumes: bool = False
    # The session that has ended since, in the ordinary way.
    ended: str = ""
    # Whether a human has said that the task shall continue, by a command.
    is_answer: bool = False


NO_OCCASION = Occasion()


@dataclass
class UnreadInput:
    """The input of hooks that had nothing else to do, saved in the worktree until it is on record."""

    place: Place
    _read: dict[str, str] = field(default_factory=dict)

    def added_to(self, occasion: Occasion) -> Occasion:
        """Return the occasion with the saved words, where it has none of its own."""
        said, prompt, ended = self._words("on-stop"), self._words("on-prompt"), self.ended_session()
        return replace(occasion, said=occasion.said or said, prompt=occasion.prompt or prompt, ended=ended)

    def ended_session(self) -> str:
        """Return the session that has ended in the ordinary way since the record was last written."""
        return self._words("on-end")

    def clear(self) -> None:
        """Delete what was read; what came meanwhile stays."""
        disk.sweep(Path(spool_file(self.place, "*")))
        for path, state in self._read.items():
            if quiet.state_of(path) == state:
                Path(path).unlink(missing_ok=True)

    def _words(self, hook: str) -> str:
        path = spool_file(self.place, hook)
        state = quiet.state_of(path)
        try:
            values = read_json(files.read_own(Path(path), largest=quiet.LARGEST) or b"null")
        except (files.NotPlain, ValueError):
            return ""
        self._read[path] = state
        found = values.get(_WORDS_IN[hook]) if isinstance(values, dict) else None
        return found if isinstance(found, str) else ""
