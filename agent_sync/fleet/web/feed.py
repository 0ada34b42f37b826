"""The newest view of the fleet, looked at again while somebody has the page open, and only then."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from typing import Any

from agent_sync.errors import AgentSyncError
from agent_sync.fleet.view import FleetView, as_json

# A page that was just opened is shown what was seen less than this ago, and not looked at again.
FRESH_S = 10.0
# However short a backoff somebody has set, for tests say.
SHORTEST_S = 1.0
# A stream without news says this often that it lives.
ALIVE_S = 15.0


class Feed:
    """One view for all streams: each waits for a version newer than the one it has sent, and none has a queue."""

    def __init__(self, look: Callable[[], FleetView], every_s: float) -> None:
        self._look, self._every_s = look, max(every_s, SHORTEST_S)
        # Ids of an earlier server mean nothing here.
        self._boot = secrets.token_hex(4)
        self._number = 0
        self._looked = -FRESH_S
        self._streams = 0
        self._changed = asyncio.Condition()
        self._looking = asyncio.Lock()
        self.values: dict[str, object] = {}
        self.closing = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None

    @property
    def version(self) -> str:
        """What a page names as the last that it has shown."""
        return f"{self._boot}-{self._number}"

    async def look_now(self) -> dict[str, object]:
        """Return what is there now; what was just seen is not looked at again."""
        async with self._looking:
            if not self.values or time.monotonic() - self._looked > FRESH_S:
                await self._take(await asyncio.to_thread(self._look))
            return self.values

    async def stream(self, after: str) -> AsyncIterator[tuple[str, dict[str, object]] | None]:
        """Yield every new version with its values, and None now and then as a sign of life, until the server ends."""
        self._streams += 1
        try:
            await self.look_now()
            while not self.closing.is_set():
                if self.version != after and self.values:
                    after = self.version
                    yield after, self.values
                elif not await self._wait_for_news(after):
                    yield None
        finally:
            self._streams -= 1

    async def keep_looking(self) -> None:
        """Look again and again while a page is open."""
        while not self.closing.is_set():
            await _came_within(self.closing.wait(), limit_s=self._every_s)
            if self._streams and not self.closing.is_set():
                with suppress(AgentSyncError, OSError):
                    # The page stays as it is, and says from when that is.
                    await self.look_now()

    def forget(self) -> None:
        """Look again at the next question: something was done."""
        self._looked = -FRESH_S

    def close_soon(self) -> None:
        """End every stream; called from a signal, which may come between any two steps."""
        self._ending = asyncio.get_running_loop().create_task(self._close())

    async def _close(self) -> None:
        self.closing.set()
        async with self._changed:
            self._changed.notify_all()

    async def _take(self, view: FleetView) -> None:
        async with self._changed:
            self._looked = time.monotonic()
            self._number += 1
            self.values = as_json(view)
            self._changed.notify_all()

    async def _wait_for_news(self, after: str) -> bool:
        async with self._changed:
            if self.version != after or self.closing.is_set():
                return True
            return await _came_within(self._changed.wait(), limit_s=ALIVE_S)


async def _came_within(waiting: Coroutine[Any, Any, Any], limit_s: float) -> bool:
    """Wait for something, at most so long; tell whether it came."""
    try:
        await asyncio.wait_for(waiting, limit_s)
    except TimeoutError:
        return False
    return True
