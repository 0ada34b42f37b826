"""Reads GitHub's rate limits: which of the two it is, and how long it wants to be left alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# GitHub's own advice for a limit that does not say how long it lasts.
UNSAID_WAIT_S = 60.0
# Limits last an hour at most; a header that says more is wrong, and must not stop a task for days.
MOST_WAIT_S = 7200.0
_SECONDARY_WORDS = ("secondary rate limit", "abuse detection", "submitted too quickly")
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
    moment = _moment(text)
    return max(0.0, (moment - _server_now(headers, now)).total_seconds()) if moment else UNSAID_WAIT_S


def _until_reset(headers: Mapping[str, str], now: datetime) -> float:
    text = headers.get("x-ratelimit-reset", "").strip()
    if not (text.isascii() and text.isdigit()):
        return UNSAID_WAIT_S
    # A second more, because the reset is told in whole seconds.
    return max(0.0, float(text) - _server_now(headers, now).timestamp()) + 1


def _server_now(headers: Mapping[str, str], now: datetime) -> datetime:
    """Return the server's own time where it tells it: this machine's clock may be off."""
    return _moment(headers.get("date", "")) or now


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
