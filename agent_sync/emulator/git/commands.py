"""What a push asks for: the list of ref updates before its pack."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from agent_sync.emulator.exchange import Asked

MOST_BYTES = 1024 * 1024  # a list of ten thousand refs is smaller
GZIP = 16 + zlib.MAX_WBITS
HEADER = 4


@dataclass(frozen=True)
class Command:
    """One ref update: zeros stand for a ref that does not exist."""

    old: str
    new: str
    name: str


def push_commands(asked: Asked) -> list[Command]:
    """Return the ref updates of a push; anything that is not a push has none."""
    return [_command(line) for line in packet_lines(_start(asked)) if line.count(b" ") > 1]


def packet_lines(data: bytes) -> Iterator[bytes]:
    """Return the packets up to the first flush; a broken length ends the list."""
    place = 0
    while place + HEADER <= len(data):
        try:
            length = int(data[place : place + HEADER], 16)
        except ValueError:
            return
        if length <= HEADER:
            return
        yield data[place + HEADER : place + length]
        place += length


def packet(payload: bytes) -> bytes:
    """Return one packet."""
    return b"%04x" % (len(payload) + HEADER) + payload


def _start(asked: Asked) -> bytes:
    asked.body.seek(0)
    data = asked.body.read(MOST_BYTES)
    asked.body.seek(0)
    is_packed = asked.headers.get("content-encoding") == "gzip"
    return zlib.decompressobj(GZIP).decompress(data, MOST_BYTES) if is_packed else data


def _command(line: bytes) -> Command:
    old, new, name = line.partition(b"\0")[0].decode("utf-8", "replace").rstrip("\n").split(" ", 2)
    return Command(old, new, name)
