"""The one table, for a terminal and for the documentation."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from benchmarks.figures import Limits, Row, Unit

HEADINGS = ("", "agent-sync", "±", "script", "agent-gauntlet", "at most", "")
NOTHING = "–"
MARKS = {True: "✓", False: "✗", None: ""}
FEW, MANY = 10, 100


def text_table(rows: Sequence[Row]) -> str:
    """Return the table in columns of fixed width, with a heading for each section."""
    body = [(heading, [cells(row) for row in group]) for heading, group in sections(rows)]
    lines = [HEADINGS, *(line for _, group in body for line in group)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    shown = [_line(HEADINGS, widths)]
    for heading, group in body:
        shown += ["", heading, *(_line(line, widths) for line in group)]
    return "\n".join(shown)


def markdown_table(rows: Sequence[Row]) -> str:
    """Return the same table for a page, its sections as bold lines."""
    shown = [_piped(HEADINGS), _piped(["---"] * len(HEADINGS))]
    for heading, group in sections(rows):
        shown.append(_piped([f"**{heading}**", *[""] * (len(HEADINGS) - 1)]))
        shown += [_piped(cells(row)) for row in group]
    return "\n".join(shown)


def sections(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Yield each section's heading with its rows."""
    for (name, unit, points), group in groupby(rows, attrgetter("section", "unit", "points")):
        places = f": {' / '.join(points)}" if any(points) else ""
        yield f"{name}, {unit}{places}", list(group)


def cells(row: Row) -> tuple[str, ...]:
    """Return the columns of one row."""
    spread = f"{100 * max(row.spreads):.0f} %" if row.spreads else ""
    values = _joined(row.values, row.unit)
    beside = [_joined(column, row.unit) if any(one is not None for one in column) else "" for column in _beside(row)]
    return (row.name, values, spread, *beside, MARKS[row.is_met])


def _beside(row: Row) -> tuple[Limits, ...]:
    return row.script, row.rival, row.at_most


def _joined(values: Limits, unit: Unit) -> str:
    return " / ".join(NOTHING if value is None else number(value, unit) for value in values)


def number(value: float, unit: Unit) -> str:
    """Write a figure with as many digits as it deserves."""
    if unit is Unit.COUNT or value >= MANY:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < FEW and unit is not Unit.PERCENT else f"{value:.1f}"


def _line(columns: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(column.ljust(width) for column, width in zip(columns, widths, strict=True)).rstrip()


def _piped(columns: Sequence[str]) -> str:
    return f"| {' | '.join(columns)} |"
