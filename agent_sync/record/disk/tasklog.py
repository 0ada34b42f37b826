"""task.log: one JSON line per event, for people and their tools; it is derived, and repairs itself."""

import json
from pathlib import Path

from agent_sync.record.disk.lines import tail_of
from agent_sync.record.machine.caps import count_of
from agent_sync.record.machine.model import Event, Record
from agent_sync.system import files

NAME = "task.log"


def log_events(directory: Path, before: Record | None, after: Record, *, note: str = "") -> None:
    """Append a line for each new event, after those a killed writer has left out, and after a note if there is one."""
    file = directory / NAME
    end, last = tail_of(file)
    known = count_of(before) if before else 0
    first = 0 if last is None else min(last + 1, known)
    lines = [_noted(note, after)] if note else []
    lines += [_line(event) for event in after.history if event.seq >= first]
    if lines:
        files.append(file, b"".join(lines), at=end, is_durable=False)


def _noted(note: str, after: Record) -> bytes:
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
