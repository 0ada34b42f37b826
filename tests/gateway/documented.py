"""GitHub's GraphQL answers as its documentation and its public reports show them, for octo/demo on github.com."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from proxied import Failure, HttpReply, ProxiedServer

from agent_sync.gateway.port import Gateway

PATH = "/graphql"
HEAD = "a" * 40
OPTIONS = ("Todo", "In Progress", "In Review", "Done")
HEADERS = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4999", "x-oauth-scopes": "project, repo"}
OPERATION = re.compile(r"(?:query|mutation) (\w+)")

Json = dict[str, Any]
Reply = HttpReply | Failure


def fields(options: tuple[str, ...] = OPTIONS) -> Json:
    """Return a board with its fields."""
    status = [{"id": f"opt{place}", "name": name} for place, name in enumerate(options)]
    priority = [{"id": f"p{place}", "name": f"P{place}"} for place in range(3)]
    nodes = [
        {"id": "F_title", "name": "Title", "dataType": "TITLE"},
        {"id": "F_status", "name": "Status", "dataType": "SINGLE_SELECT", "options": status},
        {"id": "F_priority", "name": "Priority", "dataType": "SINGLE_SELECT", "options": priority},
        {"id": "F_agent", "name": "Agent", "dataType": "TEXT"},
    ]
    return {"id": "PVT_1", "title": "Demo board", "url": "https://github.com/users/octo/projects/1"} | {
        "fields": {"nodes": nodes}
    }


def shape(**more: Any) -> Json:
    """Return a board as a list of boards shows it."""
    return fields() | {"number": 1, "closed": False, "owner": {"login": "octo"}} | more


def values(status: str = "Todo", agent: str = "") -> Json:
    """Return what a card shows; GitHub answers {} for a value of another kind and null for none."""
    return {
        "status": {"option": status} if status else None,
        "priority": {"option": "P1"},
        "agent": {"text": agent} if agent else None,
    }


def item(**more: Any) -> Json:
    """Return the issue's item on the board."""
    shown = values(more.pop("status", "Todo"), more.pop("agent", ""))
    return {"id": "PVTI_1", "isArchived": False, "project": {"id": "PVT_1"}} | shown | more


def pull(**more: Any) -> Json:
    """Return pull request 45."""
    return {
        "number": 45, "url": "https://github.com/octo/demo/pull/45", "state": "OPEN", "isDraft": False,
        "isCrossRepository": False, "headRefOid": HEAD, "body": "Refs #42", "mergeable": "MERGEABLE",
        "latestOpinionatedReviews": {"nodes": []},
    } | more  # fmt: skip


def issue(**more: Any) -> Json:
    """Return issue 42."""
    return {
        "id": "I_42", "number": 42, "title": "Fix race condition in cache", "state": "OPEN",
        "url": "https://github.com/octo/demo/issues/42", "assignees": {"nodes": []},
        "blockedBy": {"nodes": []}, "subIssues": {"nodes": []}, "comments": {"nodes": []},
        "projectItems": {"nodes": [item()]},
    } | more  # fmt: skip


def answer(*parts: Json, owner: Json | None = None, **repository: Any) -> Json:
    """Return a whole read answer, with errors about parts of it."""
    base = {
        "id": "R_1", "defaultBranchRef": {"name": "main"}, "default": {"compare": {"aheadBy": 1}},
        "head": {"target": {"oid": HEAD}}, "pullRequests": {"nodes": []}, "issue": issue(),
    }  # fmt: skip
    data = {
        "viewer": {"login": "octo", "id": "U_1"},
        "repository": base | repository,
        "boardOwner": {"projectV2": fields()} if owner is None else owner,
    }
    return {"data": data} | ({"errors": list(parts)} if parts else {})


def error(kind: str, message: str, *path: str | int) -> Json:
    """Return one error of an answer in GitHub's shape."""
    place = {"path": list(path)} if path else {}
    return {"type": kind, **place, "locations": [{"line": 2, "column": 3}], "message": message}


def reply(body: Json, status: int = 200, **headers: str) -> HttpReply:
    """Return an HTTP answer with GitHub's usual headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpReply(status, HEADERS | named, json.dumps(body).encode())


def page(status: int, text: str = "") -> HttpReply:
    """Return an answer that is not GitHub's."""
    return HttpReply(status, {"content-type": "text/html; charset=utf-8"}, text.encode())


def refusal(status: int, message: str, **headers: str) -> HttpReply:
    """Return an HTTP error with GitHub's usual body."""
    body = {"message": message, "documentation_url": "https://docs.github.com/graphql", "status": str(status)}
    return reply(body, status, **headers)


@dataclass
class Documented:
    """Answers each operation with what was given for it, in order; the last one stays."""

    server: ProxiedServer
    open_gateway: Callable[[str, Callable[[float], None], dict[str, Any]], Gateway]
    replies: dict[str, list[Reply | Json]] = field(default_factory=dict)
    asked: list[tuple[str, Json]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    def gateway(self, *, token: str = "ghp_documented", **tables: dict[str, Any]) -> Gateway:
        """Return a gateway to github.com, whose place these answers take."""
        self.server.answering = self._answer
        return self.open_gateway(token, self.slept.append, tables)

    def given(self, operation: str, *replies: Reply | Json) -> None:
        """Say what an operation is answered with."""
        self.replies[operation] = list(replies)

    def operations(self) -> list[str]:
        """Return the operations asked for so far, and forget them."""
        names = [name for name, _ in self.asked]
        self.asked.clear()
        return names

    def _answer(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Reply:
        assert (method, path, headers["host"]) == ("POST", PATH, "api.github.com")
        body = json.loads(content)
        found = OPERATION.search(body["query"])
        assert found, body["query"]
        self.asked.append((found[1], body.get("variables") or {}))
        self.headers.append(headers)
        waiting = self.replies.get(found[1]) or self.replies["*"]
        given = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return given if isinstance(given, HttpReply | Failure) else reply(given)
