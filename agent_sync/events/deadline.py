"""Answers in time: at a hook's own deadline it says what there is to say, ends the children, and leaves."""

import os
import signal
import threading
from collections.abc import Callable
from typing import NoReturn

from agent_sync.settings import Settings
from agent_sync.task.decision.facts import Trigger


class Watchdog:
    """One answer per process: either the work's own or, at the deadline, the one from here.

    A thread does it, because the work may sit in a call that no signal interrupts (a name look-up, say). State is
    saved after every outcome, so leaving at any moment costs at most one repeated action.
    """

    def __init__(self, limit: float, *, at_limit: Callable[[], None], end_children: Callable[[], None]) -> None:
        self._answering = threading.Lock()
        self._at_limit = at_limit
        self._end_children = end_children
        self._timer = threading.Timer(limit, self._expired)
        self._timer.daemon = True

    def start(self) -> None:
        """Begin to watch; a request to terminate ends the children too."""
        # A handler interrupts its own thread anywhere, also where a program runs already and is not noted yet; a thread
        # of its own waits for that.
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=self._leave).start())
        self._timer.start()

    def stop(self) -> None:
        """Watch no longer: another one does."""
        self._timer.cancel()

    def answered_in_time(self) -> bool:
        """Claim the right to answer; False means that the watchdog is already answering."""
        self._timer.cancel()
        return self._answering.acquire(blocking=False)

    def _expired(self) -> None:
        if self._answering.acquire(blocking=False):
            try:
                self._at_limit()
            finally:
                self._leave()

    def _leave(self) -> NoReturn:
        self._end_children()
        os._exit(0)


def deadline(settings: Settings, trigger: Trigger) -> float:
    """Return how many seconds a hook gives itself."""
    limits = settings.hooks
    match trigger:
        case Trigger.STOP | Trigger.SYNC:
            return limits.stop_deadline_s
        case Trigger.IDLE | Trigger.REWAKE:
            return limits.idle_deadline_s
        case Trigger.SESSION_START:
            return limits.session_start_deadline_s
        case Trigger.PROMPT:
            return limits.prompt_deadline_s
        case Trigger.TOOL:
            return limits.tool_deadline_s
