"""One request from arrival to answer: faults and latency, the right view, the journal."""

import asyncio
import logging
import re
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from agent_sync.emulator.connection import cut, send_answer, send_half
from agent_sync.emulator.control import PREFIX, Control
from agent_sync.emulator.exchange import Answer, Asked, error_answer
from agent_sync.emulator.faults import Request
from agent_sync.emulator.git import http as git_http
from agent_sync.emulator.graphql_http import answer_graphql, graphql_operation
from agent_sync.emulator.journal import Entry
from agent_sync.emulator.limits import Limits
from agent_sync.emulator.pages.routes import page_answer
from agent_sync.emulator.rest.dispatch import answer_rest, rest_operation
from agent_sync.emulator.rest.headers import sender_headers
from agent_sync.emulator.sender import is_loopback
from agent_sync.emulator.trouble import answer_instead, garbled
from agent_sync.emulator.world.world import World

log = logging.getLogger(__name__)

ABSOLUTE = re.compile(r"https?://[^/]+")
IN_MEMORY = 8 * 1024 * 1024


class Application:
    """The local GitHub as an ASGI application."""

    def __init__(self, world: World, changed: Callable[[], None] = lambda: None) -> None:
        self.world = world
        self.control = Control(world)
        self.limits = Limits(world.clock)
        self.changed = changed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as body:
            if not await _received(receive, body):
                return
            asked = _asked(scope, body)
            if _is_misdirected(scope, asked):
                await send_answer(send, error_answer(403, "The Host header does not name this machine."))
                return
            if asked.path.startswith(PREFIX):
                await send_answer(send, await asyncio.to_thread(self.control.answer, asked))
            elif page := await asyncio.to_thread(page_answer, self.world, asked):
                await send_answer(send, page)
            else:
                await self._exchange(asked, receive, send)
            if asked.method != "GET":
                self.changed()

    async def _exchange(self, asked: Asked, receive: Receive, send: Send) -> None:
        """Answer one request of the interface or of git, with the trouble that was ordered for it."""
        started = time.perf_counter()
        operation, is_git = _operation(asked), git_http.is_git(asked.path)
        fault = self.control.faults.take(Request(asked.method, asked.path, asked.plain_path, operation))
        await asyncio.sleep(_pause(fault, self.control.latency_s))
        answer = None if fault == "drop_before" else await asyncio.to_thread(self._answer, asked, fault)
        shown = None if fault == "drop_after_apply" else answer
        ms = round((time.perf_counter() - started) * 1000, 3)
        entry = Entry(asked.method, asked.path, operation, shown.status if shown else None, ms)
        self.control.journal.add(entry, is_git=is_git)
        if shown is None:
            await cut(receive, send)
        elif fault == "truncate":
            await send_half(receive, send, shown)
        else:
            await send_answer(send, garbled(shown) if fault == "garbage" else shown)

    def _answer(self, asked: Asked, fault: str | None) -> Answer:
        resource = "graphql" if asked.plain_path == "/graphql" else "core"
        instead = answer_instead(fault, limits=self.limits, resource=resource) if fault else None
        if instead is not None:
            return instead.with_headers(**sender_headers(self.world.clock))
        try:
            return self._viewed(asked).with_headers(**sender_headers(self.world.clock))
        except Exception:  # a mistake of this program must look like one of GitHub's, and be seen
            log.exception("%s %s failed", asked.method, asked.path)
            return error_answer(500, "Server Error")

    def _viewed(self, asked: Asked) -> Answer:
        if git_http.is_git(asked.path):
            return git_http.answer_git(self.world, asked)
        if asked.plain_path == "/graphql":
            return answer_graphql(self.world, self.limits, asked)
        return answer_rest(self.world, self.limits, asked)


def _pause(fault: str | None, latency_s: float) -> float:
    delayed = fault is not None and fault.startswith("delay:")
    return latency_s + (float((fault or "").removeprefix("delay:")) if delayed else 0.0)


def _is_misdirected(scope: Scope, asked: Asked) -> bool:
    """Tell whether a name of somebody else's led here; on a unix socket, which has no port, any name is fine."""
    _, port = scope.get("server") or ("", None)
    return port is not None and not is_loopback(asked.headers.get("host", ""))


async def _received(receive: Receive, body: tempfile.SpooledTemporaryFile[bytes]) -> bool:
    """Read the whole body; a caller who hangs up before its end is not answered."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return False
        body.write(message.get("body", b""))
        if not message.get("more_body"):
            return True


def _operation(asked: Asked) -> str | None:
    if git_http.is_git(asked.path):
        return git_http.operation(asked)
    if asked.plain_path == "/graphql":
        with suppress(ValueError):
            return graphql_operation(asked.json())
        return None
    return rest_operation(asked.method, asked.plain_path)


def _asked(scope: Scope, body: tempfile.SpooledTemporaryFile[bytes]) -> Asked:
    """Read a request; one that came through a proxy names the whole URL where others name the path."""
    path = ABSOLUTE.sub("", scope["path"], count=1) or "/"
    raw_query = scope["query_string"].decode("latin-1")
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    query = dict(parse_qsl(raw_query, keep_blank_values=True))
    return Asked(scope["method"], path, query, headers, body, raw_query, scope.get("scheme", "http"))
