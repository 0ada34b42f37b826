"""Classifies what went wrong with one request, rate limits included, before anyone decides whether to try again."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum

from agent_sync.gateway.transport.answer import AnswerError, GraphQLAnswer
from agent_sync.gateway.transport.refusals import Refusal, known_refusal, needed_permissions, unmet_scopes
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern

_SHOWN = 200
_TITLE = pattern(r"<title>([^<]{0,100})", re.IGNORECASE)
_BROKEN_KINDS = frozenset({"INTERNAL", "INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE", "TIMEOUT"})
_BROKEN_WORDS = ("something went wrong while executing", "timedout", "couldn't respond to your request in time")


# GitHub's own advice for a limit that does not say how long it lasts.
UNSAID_WAIT_S = 60.0
# Limits last an hour at most; a header that says more is wrong, and must not stop a task for days.
MOST_WAIT_S = 7200.0
_SECONDARY_WORDS = ("secondary rate limit", "abuse detection", "submitted too quickly", "number of login attempt")
_PRIMARY_WORDS = ("api rate limit exceeded", "api rate limit already exceeded")


@dataclass(frozen=True)
class Limit:
    """One rate limit that was hit."""

    is_primary: bool
    wait_s: float

    @property
    def name(self) -> str:
        """What people call it."""
        return "hourly rate limit" if self.is_primary else "secondary rate limit"


class TroubleKind(Enum):
    """How a request failed, by what may be done about it."""

    NOT_SENT = "nothing reached GitHub"
    UNTRUSTED = "the server's certificate is not believed"
    LOST = "sent, and no usable answer"
    ODD = "answered, and not as promised"
    LIMITED = "rate limit"
    SIGN_IN = "the token is not accepted"
    FORBIDDEN = "the token may not do this"
    MISSING = "not there"
    CONFLICT = "someone else was first"
    REFUSED = "GitHub said no"


@dataclass(frozen=True)
class Trouble:
    """One failed request."""

    kind: TroubleKind
    happened: str
    limit: Limit | None = None
    # The scopes or permissions of which GitHub wants one, where it says so.
    scopes: tuple[str, ...] = ()
    # The permissions that would do, where GitHub names them; only some kinds of token have any.
    permissions: str = ""
    refusal: Refusal | None = None


class FailedRequest(Exception):
    """Carries the trouble from the wire to whoever decides about it; never leaves the gateway."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.happened)
        self.trouble = trouble


def of_response(status: int, headers: Mapping[str, str], body: str, now: datetime) -> Trouble:
    """Classify an HTTP answer that is an error, or cannot be read."""
    message = message_in(body)
    if status == 304:  # noqa: PLR2004  # not modified: nothing of ours asks so
        return Trouble(TroubleKind.ODD, "GitHub's answer is empty.")
    if 300 <= status < 400:  # noqa: PLR2004  # redirects
        return Trouble(TroubleKind.REFUSED, _redirect_message(status, headers))
    if status in {403, 429}:
        limit = limit_of(message or "", headers, now, surely=status == 429)  # noqa: PLR2004  # too many requests
        if limit:
            return Trouble(TroubleKind.LIMITED, f"GitHub's {limit.name} is reached.", limit=limit)
    if message is None and status not in {401, 404}:
        return Trouble(TroubleKind.LOST, _unreadable_message(status, headers, body))
    said = one_line(message or "")
    match status:
        case 401:
            return Trouble(TroubleKind.SIGN_IN, "GitHub does not accept the token.")
        case 403:
            return _forbidden_trouble(headers, message or "")
        case 404:
            return Trouble(TroubleKind.MISSING, "GitHub has no such thing, or does not show it to this token.")
        case 409:
            return Trouble(TroubleKind.CONFLICT, f"GitHub answered: {said}")
        case _ if status >= 500 or status < 300:  # noqa: PLR2004  # neither an answer nor a refusal
            return Trouble(TroubleKind.LOST, f"GitHub answered {status}: {said}")
        case _:
            return Trouble(TroubleKind.REFUSED, f"GitHub answered {status}: {said}")


def of_answer(answer: GraphQLAnswer, headers: Mapping[str, str], now: datetime) -> Trouble | None:
    """Return what is wrong with a GraphQL answer as a whole; parts that failed alone are the asker's business."""
    limited = next((part for part in answer.parts if answer.is_empty and _is_limit(part)), None)
    if limited:
        limit = limit_of(limited.message, headers, now, surely=True) or Limit(False, UNSAID_WAIT_S)
        return Trouble(TroubleKind.LIMITED, f"GitHub's {limit.name} is reached.", limit=limit)
    broken = next((part for part in answer.parts if is_broken(part)), None)
    return Trouble(TroubleKind.LOST, f"GitHub had an internal error: {one_line(broken.message)}") if broken else None


def _is_limit(part: AnswerError) -> bool:
    is_named = part.kind == "RATE_LIMITED" or part.code == "graphql_rate_limit"
    return is_named or (not part.path and "rate limit" in part.message.lower())


def is_broken(part: AnswerError) -> bool:
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
    given = read.get("errors")
    entries = given if isinstance(given, list) else ()
    details = [_detail(entry) for entry in entries if isinstance(entry, dict | str)]
    said = read.get("message") or read.get("error") or ""
    return " ".join(filter(None, [str(said), *details])) or "no reason given"


def _detail(entry: dict[str, object] | str) -> str:
    if isinstance(entry, str):
        return entry
    named = " ".join(str(entry[key]) for key in ("resource", "field", "code") if entry.get(key))
    return str(entry.get("message") or named)


def one_line(text: str) -> str:
    """Return a sentence from outside, short and without anything that could move a cursor."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    joined = " ".join(shown.split())
    if len(joined) <= _SHOWN:
        return joined
    kept, _, last = joined[: _SHOWN - 1].rpartition(" ")
    # Half an address leads nowhere.
    return (kept if kept and "://" in last else joined[: _SHOWN - 1]) + "…"


def _forbidden_trouble(headers: Mapping[str, str], message: str) -> Trouble:
    happened, sso = f"GitHub answered: {one_line(message)}", headers.get("x-github-sso", "")
    known = known_refusal(message, sign_on=one_line(sso) if sso.startswith("required") else "")
    # A role that does not suffice is refused with the same header as a scope that is missing.
    wanted = unmet_scopes(headers.get("x-accepted-oauth-scopes", ""), headers.get("x-oauth-scopes"))
    permissions = one_line(needed_permissions(headers.get("x-accepted-github-permissions", "")))
    scopes = tuple(one_line(scope) for scope in wanted)
    return Trouble(TroubleKind.FORBIDDEN, happened, scopes=scopes, permissions=permissions, refusal=known)


def _redirect_message(status: int, headers: Mapping[str, str]) -> str:
    where = one_line(headers.get("location", "somewhere else"))
    return f"GitHub's address answered {status} and points to {where}; redirects are not followed."


def _unreadable_message(status: int, headers: Mapping[str, str], body: str) -> str:
    kind = headers.get("content-type", "").partition(";")[0].strip()
    looks_html = (kind == "text/html" and body.strip()) or body.lstrip()[:1] == "<"
    if not looks_html:
        return f"GitHub's address answered {status} with something that is not JSON: {one_line(body) or 'empty'}"
    # Show only the title of a page: its source may come from anywhere.
    title = _TITLE.search(body)
    shown = f': "{one_line(title[1])}"' if title and title[1].strip() else ""
    request = headers.get("x-github-request-id")
    if request:
        return f"GitHub answered {status} with an error page{shown} (request {one_line(request)})."
    return f"GitHub's address answered {status} with an HTML page, perhaps of a proxy{shown}."


def limit_of(message: str, headers: Mapping[str, str], now: datetime, *, surely: bool = False) -> Limit | None:
    """Return the limit an answer speaks of; `surely` when its status or type alone says that it is one."""
    is_secondary = "retry-after" in headers or is_secondary_message(message)
    is_primary = headers.get("x-ratelimit-remaining") == "0" or message.lower().startswith(_PRIMARY_WORDS)
    if not (is_secondary or is_primary or surely):
        return None
    if is_primary and not is_secondary:
        return Limit(True, min(_until_reset(headers, now), MOST_WAIT_S))
    return Limit(False, min(_retry_after(headers, now), MOST_WAIT_S))


def is_secondary_message(message: str) -> bool:
    """Tell whether a sentence speaks of the limit on what is done at once."""
    return any(words in message.lower() for words in _SECONDARY_WORDS)


def _retry_after(headers: Mapping[str, str], now: datetime) -> float:
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    moment = moment_in(text)
    return max(0.0, (moment - _server_now(headers, now)).total_seconds()) if moment else UNSAID_WAIT_S


def _until_reset(headers: Mapping[str, str], now: datetime) -> float:
    text = headers.get("x-ratelimit-reset", "").strip()
    if not (text.isascii() and text.isdigit()):
        return UNSAID_WAIT_S
    # A second more, because the reset is told in whole seconds.
    return max(0.0, float(text) - _server_now(headers, now).timestamp()) + 1


def _server_now(headers: Mapping[str, str], now: datetime) -> datetime:
    """Return the server's own time where it tells it: this machine's clock may be off."""
    return moment_in(headers.get("date", "")) or now


def moment_in(text: str) -> datetime | None:
    """Return the moment that a header tells, always with its time zone."""
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
