"""Classifies what went wrong with one request, before anyone decides whether to try again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from agent_sync.gateway.transport.answer import Answer, Part
from agent_sync.gateway.transport.limits import UNSAID_WAIT_S, Limit, limit_of

_SHOWN = 200
_BROKEN_KINDS = frozenset({"INTERNAL", "INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE", "TIMEOUT"})
_BROKEN_WORDS = ("something went wrong while executing", "timedout", "couldn't respond to your request in time")


class Kind(Enum):
    """How a request failed, by what may be done about it."""

    NOT_SENT = "nothing reached GitHub"
    LOST = "sent, and no usable answer"
    LIMITED = "rate limit"
    SIGN_IN = "the token is not accepted"
    FORBIDDEN = "the token may not do this"
    MISSING = "not there"
    CONFLICT = "someone else was first"
    REFUSED = "GitHub said no"


@dataclass(frozen=True)
class Trouble:
    """One failed request."""

    kind: Kind
    happened: str
    limit: Limit | None = None
    scope: str = ""
    helps: str = ""


class FailedRequest(Exception):
    """Carries the trouble from the wire to whoever decides about it; never leaves the gateway."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.happened)
        self.trouble = trouble


def of_response(status: int, headers: Mapping[str, str], body: str, now: datetime) -> Trouble:
    """Classify an HTTP answer that is an error, or cannot be read."""
    message = message_in(body)
    if 300 <= status < 400:  # noqa: PLR2004  # redirects
        return Trouble(Kind.REFUSED, _redirected(status, headers))
    if status in {403, 429}:
        limit = limit_of(message or "", headers, now, surely=status == 429)  # noqa: PLR2004  # too many requests
        if limit:
            return Trouble(Kind.LIMITED, f"GitHub's {limit.name} is reached.", limit=limit)
    if message is None and status not in {401, 404}:
        return Trouble(Kind.LOST, _unreadable(status, headers, body))
    said = one_line(message or "")
    match status:
        case 401:
            return Trouble(Kind.SIGN_IN, "GitHub does not accept the token.")
        case 403:
            return _forbidden(headers, said)
        case 404:
            return Trouble(Kind.MISSING, "GitHub has no such thing, or does not show it to this token.")
        case 409:
            return Trouble(Kind.CONFLICT, f"GitHub answered: {said}")
        case _ if status >= 500 or status < 300:  # noqa: PLR2004  # neither an answer nor a refusal
            return Trouble(Kind.LOST, f"GitHub answered {status}: {said}")
        case _:
            return Trouble(Kind.REFUSED, f"GitHub answered {status}: {said}")


def of_answer(answer: Answer, headers: Mapping[str, str], now: datetime) -> Trouble | None:
    """Return what is wrong with a GraphQL answer as a whole; parts that failed alone are the asker's business."""
    limited = next((part for part in answer.parts if answer.is_empty and _is_limit(part)), None)
    if limited:
        limit = limit_of(limited.message, headers, now, surely=True) or Limit(False, UNSAID_WAIT_S)
        return Trouble(Kind.LIMITED, f"GitHub's {limit.name} is reached.", limit=limit)
    broken = next((part for part in answer.parts if is_broken(part)), None)
    return Trouble(Kind.LOST, f"GitHub had an internal error: {one_line(broken.message)}") if broken else None


def _is_limit(part: Part) -> bool:
    is_named = part.kind == "RATE_LIMITED" or part.code == "graphql_rate_limit"
    return is_named or (not part.path and "rate limit" in part.message.lower())


def is_broken(part: Part) -> bool:
    """Tell whether a part failed for a reason that has nothing to do with what was asked."""
    words = part.message.lower()
    return part.kind in _BROKEN_KINDS or any(known in words for known in _BROKEN_WORDS)


def message_in(body: str) -> str | None:
    """Return the sentence of a JSON error body, with its details; None for a body that is not GitHub's."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict):
        return None
    details = [_detail(entry) for entry in read.get("errors") or () if isinstance(entry, dict | str)]
    return " ".join(filter(None, [str(read.get("message") or ""), *details])) or "no reason given"


def _detail(entry: dict[str, object] | str) -> str:
    if isinstance(entry, str):
        return entry
    named = " ".join(str(entry[key]) for key in ("resource", "field", "code") if entry.get(key))
    return str(entry.get("message") or named)


def one_line(text: str) -> str:
    """Return a sentence from outside, short and without anything that could move a cursor."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    joined = " ".join(shown.split())
    return joined if len(joined) <= _SHOWN else joined[: _SHOWN - 1] + "…"


def _forbidden(headers: Mapping[str, str], said: str) -> Trouble:
    sso = headers.get("x-github-sso", "")
    if sso.startswith("required"):
        where = sso.partition("url=")[2] or "the organisation's single sign-on page"
        return Trouble(Kind.FORBIDDEN, f"GitHub answered: {said}", helps=f"authorise the token at {one_line(where)}")
    scope = headers.get("x-accepted-oauth-scopes") or headers.get("x-accepted-github-permissions", "")
    return Trouble(Kind.FORBIDDEN, f"GitHub answered: {said}", scope=one_line(scope))


def _redirected(status: int, headers: Mapping[str, str]) -> str:
    where = one_line(headers.get("location", "somewhere else"))
    return f"GitHub's address answered {status} and points to {where}; redirects are not followed."


def _unreadable(status: int, headers: Mapping[str, str], body: str) -> str:
    kind = headers.get("content-type", "").partition(";")[0].strip()
    looks_html = kind == "text/html" or body.lstrip()[:1] == "<"
    what = "an HTML page, perhaps of a proxy," if looks_html else "something that is not JSON"
    return f"GitHub's address answered {status} with {what} instead of an answer: {one_line(body) or 'empty'}"
