"""The events that hook.json no longer holds, archived in segments beside it before hook.json drops them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from agent_sync.record.disk.contents import file_end, last_lines, number_of
from agent_sync.record.machine.model import Event, Record
from agent_sync.system import files

SEGMENT_LENGTH = 4096


def segment_of(directory: Path, seq: int) -> Path:
    """Return the file that keeps an event, once hook.json does not."""
    return directory / f"hook-history-{seq // SEGMENT_LENGTH:04d}.jsonl"


def archive_events(directory: Path, events: Sequence[Event]) -> None:
    """Append events durably; what a killed writer left behind the last settled one is overwritten."""
    for file, group in groupby(events, key=lambda event: segment_of(directory, event.seq)):
        some = tuple(group)
        content = b"".join(event.model_dump_json().encode() + b"\n" for event in some)
        files.append(file, content, at=_settled_end(file, some[0].seq), is_durable=True)


def archived_events(directory: Path, record: Record) -> list[Event]:
    """Return the events the record has archived, up to the first that cannot be read."""
    found: list[Event] = []
    for line in _lines(directory, record.archive.events):
        event = _event(line)
        if event is None:
            break
        found.append(event)
    return found[: record.archive.events]


def last_archived(directory: Path, record: Record) -> Event | None:
    """Return the newest of the events the record has archived, from the end of its file; None where it is not there."""
    seq = record.archive.events - 1
    file = segment_of(directory, seq)
    # What a killed writer left behind it is rarely much; where it is, the whole file is read.
    for lines in (last_lines(file), list(_whole_lines(file))):
        for line in reversed(lines):
            if number_of(line) == seq:
                return _event(line)
    return None


def _event(line: bytes) -> Event | None:
    try:
        return Event.model_validate_json(line)
    except ValueError:
        return None


def _lines(directory: Path, count: int) -> Iterator[bytes]:
    for first in range(0, count, SEGMENT_LENGTH):
        # Lines behind the settled ones are the remains of a crash; in a full segment there can be none.
        lines = list(_whole_lines(segment_of(directory, first)))
        yield from lines[: min(SEGMENT_LENGTH, count - first)]


def _settled_end(file: Path, seq: int) -> int:
    """Return where event `seq` belongs in its segment; in one that somebody has cut short, that is its end."""
    if seq % SEGMENT_LENGTH == 0:
        return 0
    end = file_end(file)
    if end.number == seq - 1:
        return end.offset
    found = _end_of_line(file, seq - 1)
    return end.offset if found is None else found


def _end_of_line(path: Path, number: int) -> int | None:
    """Return where the line with a number ends, searched from the file's start; None where it is not there."""
    position = 0
    for line in _whole_lines(path):
        position += len(line) + 1
        if number_of(line) == number:
            return position
    return None


def _whole_lines(path: Path) -> Iterator[bytes]:
    """Return the lines of a file that were written to their end."""
    content = files.read_own(path, largest=1 << 30) or b""
    yield from content.split(b"\n")[:-1]
