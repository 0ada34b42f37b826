"""Plays cases side by side, each in a process of its own, fairly over the families and within a time budget."""

import contextlib
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from support.clients import Nursery

from prove.case import Case, Ending, Family, Verdict, shuffled
from prove.journal import Journal

# A case that takes this many times as long as it should, on a machine however busy, hangs.
PATIENCE = 30
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FORK = multiprocessing.get_context("fork")


class SourcesChangedError(Exception):
    """Somebody has edited the sources meanwhile: what was just played says nothing about either version."""


@dataclass
class Playing:
    """A case under way."""

    family: str
    case: Case
    process: BaseProcess
    line: Connection
    nursery: Nursery
    began: float = field(default_factory=time.monotonic)

    @property
    def gives_up_at(self) -> float:
        """When it counts as hanging."""
        return self.began + max(60.0, self.case.seconds * PATIENCE)


@dataclass
class Sweep:
    """What is left to play of each family, and how much time each has had."""

    families: Sequence[Family]
    journal: Journal
    say: Callable[[str], None]
    # The cases to play, even if they have ended; all that are left if none is named.
    only: frozenset[str] = frozenset()
    # Whether the sources are still those that the journal speaks of.
    are_current: Callable[[], bool] = lambda: True
    spent: dict[str, float] = field(default_factory=dict)

    def play(self, nurseries: Sequence[Nursery], *, ends_at: float = float("inf")) -> None:
        """Play what is left, as many cases at once as there are nurseries, and begin none that would end too late."""
        left = self._left(nurseries[0])
        free, playing = list(nurseries), list[Playing]()
        try:
            while playing or left:
                while free and (chosen := self._chosen(left, ends_at)):
                    with _uninterrupted():
                        playing.append(_begun(*chosen, free.pop()))
                if not playing:
                    return
                for ended, ending in self._ended(playing):
                    playing.remove(ended)
                    free.append(ended.nursery)
                    self._note(ended, ending)
        finally:
            for one in playing:
                _end(one)

    def _left(self, nursery: Nursery) -> dict[str, list[Case]]:
        for family in self.families:
            if family.name not in self.journal.names:
                self.say(f"{family.name}: counting its cases …")
                self.journal.list_cases(family.name, family.names(nursery))
        return {family.name: [family.case(name) for name in self._names(family.name)] for family in self.families}

    def _names(self, family: str) -> list[str]:
        known = shuffled(self.journal.names[family])
        if self.only:
            return [name for name in known if name in self.only]
        return [name for name in known if (family, name) not in self.journal.endings]

    def _chosen(self, left: dict[str, list[Case]], ends_at: float) -> tuple[str, Case] | None:
        """Take the next case from the family that has had the least time, if one still fits into the budget."""
        remaining = ends_at - time.monotonic()
        for name in sorted(left, key=lambda name: self.spent.get(name, 0.0)):
            fitting = next((case for case in left[name] if case.seconds <= remaining), None)
            if fitting:
                left[name].remove(fitting)
                # What it will take counts at once, so that the next choice is another family's.
                self.spent[name] = self.spent.get(name, 0.0) + fitting.seconds
                return name, fitting
        left.clear()
        return None

    def _ended(self, playing: list[Playing]) -> Iterator[tuple[Playing, Ending]]:
        ready = set(wait([one.line for one in playing], timeout=1.0))
        for one in list(playing):
            if one.line in ready:
                yield one, _heard(one)
            elif time.monotonic() > one.gives_up_at:
                _end(one)
                yield one, Ending(Verdict.FAILED, f"no end within {time.monotonic() - one.began:.0f} s")

    def _note(self, ended: Playing, ending: Ending) -> None:
        if not self.are_current():
            raise SourcesChangedError
        took = time.monotonic() - ended.began
        self.spent[ended.family] += took - ended.case.seconds
        self.journal.note(ended.family, ended.case.name, ending, took)
        self.say(f"{ended.family}: {ended.case.name}: {ending.verdict} ({took:.1f} s) {ending.said}".rstrip())


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put signals off, so that no case begins of which the sweep does not know."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begun(family: str, case: Case, nursery: Nursery) -> Playing:
    here, there = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_played, args=(case, nursery, there))
    process.start()
    there.close()
    return Playing(family, case, process, here, nursery)


def _played(case: Case, nursery: Nursery, line: Connection) -> None:
    """Play a case in this process, which leads a group so that all it starts can be ended with it."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    try:
        ending = case.run(nursery)
    except BaseException as error:  # noqa: BLE001  # whatever it is, it is written down as what it is
        where = traceback.extract_tb(error.__traceback__)[-1]
        ending = Ending(Verdict.FAILED, f"{type(error).__name__}: {error} ({where.name}:{where.lineno})"[:2000])
    line.send(ending)
    line.close()
    sys.stdout.flush()
    os._exit(0)


def _heard(one: Playing) -> Ending:
    try:
        ending: Ending = one.line.recv()
    except EOFError:
        ending = Ending(Verdict.FAILED, "its process ended without a word")
    _end(one)
    return ending


def _end(one: Playing) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(one.process.pid or 0, signal.SIGKILL)
    one.process.join()
    one.line.close()
