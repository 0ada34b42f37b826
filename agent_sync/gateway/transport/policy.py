"""Decides whether a failed request may be tried again, and after how long; knows neither network nor clock."""

from agent_sync.gateway.transport.trouble import Kind, Trouble

MOST_TRIES = 3
WAITS_S = (0.3, 1.0)


def wait_before_next(trouble: Trouble, attempt: int, *, is_write: bool) -> float | None:
    """Return how many seconds to wait before trying again after `attempt` tries; None means give up.

    A write is repeated only where it certainly had no effect: it was never sent, or a limit turned it away.
    """
    match trouble.kind:
        case Kind.NOT_SENT:
            return _backoff(attempt)
        case Kind.LOST:
            return None if is_write else _backoff(attempt)
        case Kind.LIMITED:
            return trouble.limit.wait_s if trouble.limit else None
        case Kind.SIGN_IN | Kind.FORBIDDEN | Kind.MISSING | Kind.CONFLICT | Kind.REFUSED:
            return None


def _backoff(attempt: int) -> float | None:
    return WAITS_S[attempt - 1] if attempt < MOST_TRIES else None
