"""The events that hook.json no longer holds, in segments beside it: written before hook.json lets go of them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from agent_sync.record.disk.lines import end_of, tail_of, whole_lines
from agent_sync.record.machine.model import Event, Record
from agent_sync.system import files

LENGTH = 4096


def segment_of(directory: Path, seq: int) -> Path:
    """Return the file that keeps an event, once hook.json does not."""
    return directory / f"hook-history-{seq // LENGTH:04d}.jsonl"


def store_events(directory: Path, events: Sequence[Event]) -> None:
    """Append events durably; what a killed writer left behind the last settled one is overwritten."""
    for file, group in groupby(events, key=lambda event: segment_of(directory, event.seq)):
        some = tuple(group)
        content = b"".join(event.model_dump_json().encode() + b"\n" for event in some)
        files.append(file, content, at=_settled_end(file, some[0].seq), is_durable=True)


def archived(directory: Path, record: Record) -> list[Event]:
    """Return the events the record has let go of, up to the first that cannot be read."""
    found: list[Event] = []
    for line in _lines(directory, record.archive.events):
        try:
            found.append(Event.model_validate_json(line))
        except ValueError:
            break
    return found[: record.archive.events]


def _lines(directory: Path, count: int) -> Iterator[bytes]:
    for first in range(0, count, LENGTH):
        # Lines behind the settled ones are the remains of a crash; in a full segment there can be none.
        lines = list(whole_lines(segment_of(directory, first)))
        yield from lines[: min(LENGTH, count - first)]


def _settled_end(file: Path, seq: int) -> int:
    """Return where event `seq` belongs in its segment; in one that somebody has cut short, that is its end."""
    if seq % LENGTH == 0:
        return 0
    end, last = tail_of(file)
    if last == seq - 1:
        return end
    found = end_of(file, seq - 1)
    return end if found is None else found
