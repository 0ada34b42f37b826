"""Files of numbered JSON lines that are only ever appended to; a writer may be killed in the middle of a line."""

import os
from collections.abc import Iterator
from pathlib import Path

from agent_sync.system import files
from agent_sync.system.json_reading import read_json

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


def tail_of(path: Path) -> tuple[int, int | None]:
    """Return where the last whole line of a file ends, and the number of the last line that has one."""
    whole = _tail(path, _TAIL)
    if whole is None or b"\n" not in whole[1]:
        whole = _tail(path, None)
    if whole is None:
        return 0, None
    start, content = whole
    complete = content[: content.rfind(b"\n") + 1]
    numbers = (number_of(line) for line in reversed(complete.splitlines()))
    return start + len(complete), next((number for number in numbers if number is not None), None)


def end_of(path: Path, number: int) -> int | None:
    """Return where the line with a number ends, searched from the file's start; None where it is not there."""
    position = 0
    for line in whole_lines(path):
        position += len(line) + 1
        if number_of(line) == number:
            return position
    return None


def whole_lines(path: Path) -> Iterator[bytes]:
    """Return the lines of a file that were written to their end."""
    content = files.read_own(path, largest=1 << 30) or b""
    yield from content.split(b"\n")[:-1]


def _tail(path: Path, size: int | None) -> tuple[int, bytes] | None:
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            start = 0 if size is None else max(0, end - size)
            file.seek(start)
            return start, file.read()
    except FileNotFoundError:
        return None
