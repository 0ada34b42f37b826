"""Figures as values: multiples of what was measured beside them, their spread, and whether they keep within limits."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

Limits = tuple[float | None, ...]
MIDDLE = 4


class Unit(StrEnum):
    """What a figure counts."""

    BARE = "× a bare interpreter"
    FLOOR = "× the floor"
    SMALLEST = "× the smallest"
    ALONE = "× one alone"
    COUNT = "count"
    MEGABYTES = "MB"
    PERCENT = "%"


@dataclass(frozen=True)
class Multiple:
    """How many times the base something took: ratio of medians, and the middle half of the paired ratios."""

    value: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """Half the width of the middle half, as a share of the value."""
        return (self.high - self.low) / 2 / self.value if self.value else 0.0


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure at one or more points, beside what others took and what it may be at most."""

    section: str
    name: str
    unit: Unit
    points: tuple[str, ...]
    values: tuple[float, ...]
    spreads: tuple[float, ...] = ()
    script: Limits = ()
    rival: Limits = ()
    at_most: Limits = ()

    @property
    def is_met(self) -> bool | None:
        """Whether every value keeps within its limit; nothing where there is no limit."""
        limited = [(value, most) for value, most in zip(self.values, self.at_most, strict=False) if most is not None]
        return all(value <= most for value, most in limited) if limited else None

    @property
    def breaks_count(self) -> bool:
        """Whether a count, which a busy machine does not change, is over its limit."""
        return self.unit is Unit.COUNT and self.is_met is False


def multiple(taken: Sequence[float], base: Sequence[float]) -> Multiple:
    """Compare what was taken with the base of the same rounds."""
    ratios = [one / other for one, other in zip(taken, base, strict=True)]
    low, _, high = statistics.quantiles(ratios, n=MIDDLE, method="inclusive") if len(ratios) > 1 else ratios * 3
    return Multiple(statistics.median(taken) / statistics.median(base), low, high)


def multiples_row(section: str, name: str, unit: Unit, found: dict[str, Multiple], **beside: Limits) -> Row:
    """Make a row of multiples, one for each point."""
    values, spreads = (tuple(getattr(one, part) for one in found.values()) for part in ("value", "spread"))
    return Row(section, name, unit, tuple(found), values, spreads, **beside)


def broken_counts(rows: Sequence[Row]) -> list[str]:
    """Name the rows whose counts are over their limits."""
    return [f"{row.section}: {row.name}" for row in rows if row.breaks_count]
