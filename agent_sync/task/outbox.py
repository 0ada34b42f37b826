"""Sentences that wait for their reader, each said once: kept on disk until it was printed."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.plain.json_reading import read_json
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.system.masking import masked
from agent_sync.task.decision.notice import Notice
from agent_sync.worktree import OUTBOX_FILE, Place

REMEMBERED = 500
LOCK_WAIT = 2.0


@dataclass(frozen=True)
class Readers:
    """Whom a reply can reach; without `patient`, the agent is told only what cannot wait."""

    human: bool
    agent: bool
    patient: bool = True


@dataclass(frozen=True)
class Box:
    """What the file holds: what still waits, and the ids of all that was ever put in."""

    waiting: tuple[Notice, ...] = ()
    told: tuple[str, ...] = ()


class Outbox:
    """The outbox of one worktree."""

    def __init__(self, place: Place) -> None:
        self._file = Path(place.state_dir) / OUTBOX_FILE
        self._lock = Path(place.state_dir) / "outbox.lock"

    def known_ids(self) -> frozenset[str]:
        """Return the ids of all notices that need not be put in again."""
        return frozenset(self._read().told)

    def waiting(self) -> tuple[Notice, ...]:
        """Return what still waits."""
        return self._read().waiting

    def add(self, notices: Iterable[Notice]) -> None:
        """Keep what is new until it was said, without secrets."""
        known = self.known_ids()
        possible = {notice.id: notice for notice in map(_without_secrets, notices) if notice.id not in known}
        if not possible:
            return
        with self._changing() as box:
            new = {identity: notice for identity, notice in possible.items() if identity not in box.told}
            told = (*box.told, *new)[-REMEMBERED:]
            # What was forgotten while a reader still waited for it is said anew, to all of its readers.
            older = (notice for notice in box.waiting if notice.id not in new)
            readable = (notice for notice in new.values() if notice.for_human or notice.for_agent)
            self._write(Box((*older, *readable), told))

    def mark(self, read: tuple[Notice, ...], readers: Readers) -> None:
        """Forget what these readers have read of these notices; what came in meanwhile still waits."""
        if not any(unread(read, readers)):
            return
        ids = {notice.id for notice in read}
        with self._changing() as box:
            left = (_still_unread(notice, readers) if notice.id in ids else notice for notice in box.waiting)
            waiting = tuple(notice for notice in left if notice.for_human or notice.for_agent)
            # A power cut that takes this back has it said twice, as a kill before this would.
            self._write(Box(waiting, box.told), AfterPowerCut.EITHER)

    def drop(self, prefixes: tuple[str, ...]) -> None:
        """Take out what waits and is no longer true."""
        if any(notice.id.startswith(prefixes) for notice in self.waiting()):
            with self._changing() as box:
                left = tuple(notice for notice in box.waiting if not notice.id.startswith(prefixes))
                self._write(Box(left, box.told))

    def forget(self, prefixes: tuple[str, ...]) -> None:
        """Let notices of these kinds be news again."""
        with self._changing() as box:
            told = tuple(identity for identity in box.told if not identity.startswith(prefixes))
            if told != box.told:
                self._write(Box(box.waiting, told))

    def waking(self) -> tuple[Notice, ...]:
        """Return what is worth waking the agent for."""
        return tuple(notice for notice in self.waiting() if notice.wakes and notice.for_agent)

    def mark_woken(self, woken: tuple[Notice, ...]) -> None:
        """Note what the agent was woken with; the human reads it when that turn ends."""
        self.mark(woken, Readers(human=False, agent=True))

    @contextlib.contextmanager
    def _changing(self) -> Iterator[Box]:
        with files.locked(self._lock, wait=LOCK_WAIT, doing="keeping a notice"):
            yield self._read()

    def _read(self) -> Box:
        """Read the file; one that cannot be read is as good as empty: its sentences are said again or were said."""
        try:
            content = files.read_own(self._file)
            values = read_json(content) if content else {}
            waiting = tuple(_notice(notice) for notice in values.get("waiting", ()))
            return Box(waiting, tuple(_text(identity) for identity in values.get("told", ())))
        except (files.NotPlain, ValueError, TypeError, AttributeError):
            return Box()

    def _write(self, box: Box, after_cut: AfterPowerCut = AfterPowerCut.NEW) -> None:
        values: dict[str, Any] = {"waiting": [asdict(notice) for notice in box.waiting], "told": list(box.told)}
        files.write_atomic(self._file, json.dumps(values).encode(), after_cut=after_cut)


def _without_secrets(notice: Notice) -> Notice:
    return replace(notice, id=masked(notice.id), text=masked(notice.text), agent_text=masked(notice.agent_text))


def _notice(values: dict[str, Any]) -> Notice:
    """Return a notice that can be said; TypeError where the values are of another kind."""
    notice = Notice(**values)
    _text(notice.id)
    _text(notice.text)
    return notice


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def unread(waiting: tuple[Notice, ...], readers: Readers) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the human, and what the agent, has not read yet, as far as they can be reached."""
    human = tuple(notice.text for notice in waiting if notice.for_human and readers.human)
    agent = tuple(notice.agent_text or notice.text for notice in waiting if _reaches_agent(notice, readers))
    return human, agent


def _reaches_agent(notice: Notice, readers: Readers) -> bool:
    return notice.for_agent and readers.agent and (readers.patient or not notice.can_wait)


def _still_unread(notice: Notice, readers: Readers) -> Notice:
    return replace(
        notice,
        for_human=notice.for_human and not readers.human,
        for_agent=notice.for_agent and not _reaches_agent(notice, readers),
    )
