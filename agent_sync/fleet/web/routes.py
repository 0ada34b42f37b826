"""The routes of the page: the way in, the fleet and its stream, one task, and the files that make the page."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from html import escape
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from agent_sync.errors import AgentSyncError
from agent_sync.fleet.web.actions import TaskAction, run_action
from agent_sync.fleet.web.door import ENTER, LINK, DoorKeys
from agent_sync.fleet.web.feed import Feed
from agent_sync.fleet.web.source import FleetSource

FILES = {
    "style.css": "text/css",
    "fleet.js": "text/javascript",
    "task.js": "text/javascript",
    "parts.js": "text/javascript",
    "icon.svg": "image/svg+xml",
    "icon-needs-you.svg": "image/svg+xml",
}
_MISSING = PlainTextResponse("There is no such page.\n", 404)


def application(keys: DoorKeys, feed: Feed, source: FleetSource) -> Starlette:
    """Put the routes together; without actions there is no route that writes."""
    pages = _Pages(keys, feed, source)
    here = keys.prefix.rstrip("/")
    routes = [
        Route(ENTER, pages.enter),
        Route(f"{here}/", pages.shell("fleet.html")),
        Route(f"{here}/task/{{issue:int}}", pages.shell("task.html")),
        Route(f"{here}/fleet.json", pages.fleet),
        Route(f"{here}/events", pages.events),
        Route(f"{here}/task/{{issue:int}}.json", pages.task),
        Route(f"{here}/{{name}}", pages.file),
    ]
    if keys.has_actions:
        routes.append(Route(f"{here}/task/{{issue:int}}/act", pages.act, methods=["POST"]))
    return Starlette(routes=routes, exception_handlers={Exception: _broken})


class _Pages:
    """Answers requests that have passed the door."""

    def __init__(self, keys: DoorKeys, feed: Feed, source: FleetSource) -> None:
        self.keys, self.feed, self.source = keys, feed, source
        self.acted: set[str] = set()
        # One action at a time: the next one sees what the one before has done.
        self.acting = asyncio.Lock()

    async def enter(self, request: Request) -> Response:
        """Let in whoever has the link; the next request is then of the same site, so that the cookie is sent."""
        given = request.query_params.get("token", "")
        if not given.isascii() or not secrets.compare_digest(given, self.keys.token):
            return PlainTextResponse(f"{LINK}\n", 403)
        target = escape(self.keys.prefix, quote=True)
        page = f'<!doctype html><meta http-equiv="refresh" content="0;url={target}"><title>agent-sync</title>'
        return Response(page, media_type="text/html", headers={"Set-Cookie": self.keys.set_cookie()})

    def shell(self, name: str) -> Callable[[Request], Any]:
        """Return what answers with one of the two pages; their contents come as JSON."""
        text = _static(name).replace("{base}", self.keys.prefix)
        text = text.replace("{action-key}", self.keys.action_key if self.keys.has_actions else "")

        async def page(_request: Request) -> Response:
            return Response(text, media_type="text/html")

        return page

    async def fleet(self, _request: Request) -> Response:
        """Answer with the fleet as it is now, and its version."""
        values = await self.feed.look_now()
        return JSONResponse({"version": self.feed.version, **values})

    async def events(self, request: Request) -> Response:
        """Answer with a stream of whole views; what the page has shown already is not sent again."""
        after = request.headers.get("last-event-id") or request.query_params.get("after", "")
        return StreamingResponse(self._events(after), media_type="text/event-stream")

    async def _events(self, after: str) -> AsyncIterator[str]:
        yield "retry: 1000\n\n"
        async for news in self.feed.stream(after):
            if news is None:
                yield ": still here\n\n"
            else:
                version, values = news
                yield f"id: {version}\nevent: fleet\ndata: {json.dumps({'version': version, **values})}\n\n"

    async def task(self, request: Request) -> Response:
        """Answer with everything that is known of one task."""
        await self.feed.look_now()
        issue = request.path_params["issue"]
        found = await asyncio.to_thread(self.source.details, issue)
        if found is None:
            return _MISSING
        offered = self.source.actions(issue) if self.keys.has_actions else ()
        buttons = [{"name": action.name, "question": action.question} for action in offered]
        return JSONResponse({"version": self.feed.version, "actions": buttons, **found})

    async def act(self, request: Request) -> Response:
        """Do what a person has confirmed, once, and only if the page showed how the fleet stands now."""
        wanted = await _body(request)
        if wanted.get("version") != self.feed.version:
            return PlainTextResponse("The fleet has changed meanwhile: look again.\n", 409)
        async with self.acting:
            if not wanted.get("once") or wanted["once"] in self.acted:
                return PlainTextResponse("This was done already.\n", 409)
            found = self._offered(request.path_params["issue"], wanted.get("action"))
            if found is None:
                return _MISSING
            self.acted.add(wanted["once"])
            where = self.source.directory(request.path_params["issue"])
            answer = await asyncio.to_thread(run_action, found, where, self.source.environment)
        self.feed.forget()
        return JSONResponse(answer)

    def _offered(self, issue: int, name: object) -> TaskAction | None:
        return next((one for one in self.source.actions(issue) if one.name == name), None)

    async def file(self, request: Request) -> Response:
        """Answer with one of the files of the page."""
        name = request.path_params["name"]
        return Response(_static(name), media_type=FILES[name]) if name in FILES else _MISSING


async def _broken(_request: Request, error: Exception) -> Response:
    """Answer where something went wrong; the page says so, and what was shown stays."""
    what = error.happened if isinstance(error, AgentSyncError) else f"unexpected: {type(error).__name__}"
    return PlainTextResponse(f"{what}\n", 500)


async def _body(request: Request) -> dict[str, Any]:
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and all(isinstance(one, str) for one in found.values()) else {}


def _static(name: str) -> str:
    return resources.files("agent_sync.fleet.web").joinpath("static", name).read_text(encoding="utf-8")
