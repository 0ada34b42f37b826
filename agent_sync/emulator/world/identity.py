"""Ids in GitHub's style, and a clock that can be moved forward."""

import base64
import itertools
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True)
class Identity:
    """The two ids of one thing: the number REST uses and the node id GraphQL uses."""

    number: int
    node: str


@dataclass
class IdSource:
    """Hands out ids: one rising sequence per kind of thing, so that worlds are reproducible."""

    sequences: dict[str, Iterator[int]] = field(
        default_factory=lambda: defaultdict(lambda: itertools.count(1))
    )

    def next(self, prefix: str) -> Identity:
        """Return the next identity of a kind; the prefix is GitHub's (`I`, `PR`, `PVTI`, …)."""
        number = next(self.sequences[prefix])
        packed = base64.urlsafe_b64encode(struct.pack(">IQ", 1, number)).decode().rstrip("=")
        return Identity(number, f"{prefix}_kwDO{packed}")

    def option(self) -> str:
        """Return the next option id: eight hexadecimal digits, as single select options have."""
        return f"{(next(self.sequences['option']) * 0x9E3779B1) & 0xFFFFFFFF:08x}"


@dataclass
class Clock:
    """Wall time plus what tests have added to it."""

    offset: timedelta = timedelta()

    def now(self) -> datetime:
        """Return the current time of this world, in whole seconds as GitHub reports it."""
        return (datetime.now(UTC) + self.offset).replace(microsecond=0)

    def advance(self, seconds: float) -> None:
        """Move the world's time forward."""
        self.offset += timedelta(seconds=seconds)


def timestamp(moment: datetime) -> str:
    """Render a moment the way GitHub writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
