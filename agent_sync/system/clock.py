"""The only reader of wall time: everything else is told what time it is."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)
