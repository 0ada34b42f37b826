"""Ids in GitHub's style, and a clock that can be moved forward."""

import base64
import struct
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

    last: dict[str, int] = field(default_factory=dict)

    def next(self, prefix: str) -> Identity:
        """Return the next identity of a kind; the prefix is GitHub's (`I`, `PR`, `PVTI`, …)."""
        number = self._count(prefix)
        packed = base64.urlsafe_b64encode(struct.pack(">IQ", 1, number)).decode().rstrip("=")
        return Identity(number, f"{prefix}_kwDO{packed}")

    def option(self) -> str:
        """Return the next option id: eight hexadecimal digits, as single select options have."""
        return f"{(self._count('option') * 0x9E3779B1) & 0xFFFFFFFF:08x}"

    def _count(self, kind: str) -> int:
        self.last[kind] = self.last.get(kind, 0) + 1
        return self.last[kind]


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
