"""Reads who a token belongs to and what it may do."""

from contextlib import closing
from datetime import datetime
from email.utils import parsedate_to_datetime

from agent_sync.errors import NotFound
from agent_sync.gateway.transport.asking import ask, thing_at
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.task.decision.tasks import Person

SCOPES = "x-oauth-scopes"


def viewer(line: Line) -> Person:
    """Return the token's owner and its scopes; fine-grained and App tokens have none to tell."""
    call = Call("viewer", attempted="asking whose token this is")
    found = thing_at(ask(line, call), call, "viewer")
    headers = _headers(line, call)
    return Person(str(found["login"]), str(found["id"]), _scopes(headers), _clock(headers))


def _headers(line: Line, call: Call) -> dict[str, str]:
    from agent_sync.gateway.transport.rest import Rest

    with closing(Rest(line)) as rest:
        try:
            # Costs nothing and works with every kind of token, unlike /user.
            headers, _ = rest.read("/rate_limit", call)
        except NotFound:
            # An Enterprise server without limits does not have this address.
            headers, _ = rest.read("/meta", call)
    return headers


def _scopes(headers: dict[str, str]) -> tuple[str, ...] | None:
    told = headers.get(SCOPES)
    return None if told is None else tuple(scope.strip() for scope in told.split(",") if scope.strip())


def _clock(headers: dict[str, str]) -> datetime | None:
    try:
        return parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return None
