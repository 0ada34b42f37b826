"""Comparisons in a board's filter: `>3`, `<=2026-01-31`, `1..5`."""

import operator
from collections.abc import Callable

OPERATORS: dict[str, Callable[[str | float, str | float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "": operator.eq,
}


def comparison(text: str) -> Callable[[str], bool]:
    """Return what decides whether a number or day fits; a star is an open end of a range."""
    low, dots, high = text.partition("..")
    if dots:
        return lambda value: (low == "*" or _holds(">=", value, low)) and (high == "*" or _holds("<=", value, high))
    wanted = text.lstrip("<>=")
    sign = text[: len(text) - len(wanted)]
    return lambda value: sign in OPERATORS and _holds(sign, value, wanted)


def _holds(sign: str, value: str, wanted: str) -> bool:
    try:
        return OPERATORS[sign](float(value), float(wanted))
    except ValueError:
        # Days are written so that their order is the order of their letters.
        return OPERATORS[sign](value, wanted)
