"""Values at the edges of what a field may hold, and every place of nested values that they can be put into."""

import math
from collections.abc import Iterator
from typing import Any

Values = dict[str, Any]
Place = tuple[str, ...]
NUMBERS = (0, 1, -1, 1024, 1025, 100_000, 100_001, 2**31 - 1, 2**31, 2**53 + 1, 10**400)
FLOATS = (0.0, 0.5, -0.0, 1.0, 2_592_000.0, 2_592_000.5, 1e308, math.inf, -math.inf, math.nan)
TEXTS = (
    *("", "x", "1", "true", "coding", "now", "clone", "squash", "mission-integrity", "gate", "closed", "auto"),
    *(" ", "\n", "\x1c", "\u2003", "high", "pretty"),
    *("é", "\ud800", "a\0b", "x" * 101, "x" * 200, "x" * 201, "x" * 501, "a/b", "h.x/a/b", "a/b\n", "é/b", "{issue}"),
    *("../{issue}", "w-{slug}-{issue}", "2026-11-16T12:00:00Z", "2026-11-16", "1969-12-31T23:59:59+00:00", "2026-W47"),
    *("2026-11-16T12:00:00+05:30:15", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", "2026-11-16T12:00"),
    *("2026-11-16T12:00:00.000001-05:30:15", "2026-11-16T12:00:00+00:00:15", "2026-11-16T12:00:00-00:00:15.5"),
    "the hook of pool/w1 (`agent-sync worker take` goes on with it)",
)


def places(values: Values, above: Place = ()) -> Iterator[Place]:
    """Return where a value can be replaced: every key, and every key of the objects below it."""
    for key, value in values.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from places(value, (*above, key))
    yield (*above, "unknown")


def replaced(values: Values, place: Place, value: object) -> Values:
    """Return the values with another one in a place."""
    key, rest = place[0], place[1:]
    return {**values, key: replaced(values[key], rest, value) if rest else value}


def without(values: Values, place: Place) -> Values:
    """Return the values without the one in a place."""
    key, rest = place[0], place[1:]
    if not rest:
        return {name: value for name, value in values.items() if name != key}
    return {**values, key: without(values[key], rest)}
