"""Rows of the table as plots: bars beside what others took, and curves over sizes."""

from collections.abc import Sequence
from itertools import pairwise

from benchmarks.drawing import EDGE, TOP, WIDTH, framed, legend, line, rectangle, text, ticks
from benchmarks.figures import Row
from benchmarks.table import number

LABELS, RIGHT = 270, 70
BAR, GAP = 14, 12
CURVES_HEIGHT, CURVE_LABELS = 240, 210
KINDS = "abcde"
NAMES = {"a": "agent-sync", "b": "the shell script", "c": "agent-gauntlet 0.6.0", "limit": "at most"}


def bars(title: str, rows: Sequence[Row], point: int = -1) -> str:
    """Draw one point of each row as a bar, with the recorded ones and the limit beside it."""
    shown = [(row, _beside(row, point)) for row in rows]
    scale = ticks(max(value for _, beside in shown for _, value in beside))
    shapes, y = [], float(TOP + 14)
    for row, beside in shown:
        shapes += _group(row, beside, y, scale[-1], _at(row.at_most, point))
        y += BAR * len(beside) + GAP
    kinds = [kind for kind in NAMES if any(kind in dict(beside) for _, beside in shown)]
    kinds += ["limit"] if any(_at(row.at_most, point) is not None for row in rows) else []
    grid = [shape for tick in scale for shape in _upright(tick, scale[-1], y)]
    head = legend([(kind, NAMES[kind]) for kind in kinds], TOP - 12)
    told = "; ".join(f"{row.name}: {_told(beside, row)}" for row, beside in shown)
    return framed(title, f"Bars, {rows[0].unit}. {told}.", y + 30, [head, *grid, *shapes])


def _beside(row: Row, point: int) -> list[tuple[str, float]]:
    """Return the bars of a row by the kind that colours them."""
    found = [("a", row.values[point]), ("b", _at(row.script, point)), ("c", _at(row.rival, point))]
    return [(kind, value) for kind, value in found if value is not None]


def _at(values: Sequence[float | None], point: int) -> float | None:
    return values[point] if values else None


def _told(beside: list[tuple[str, float]], row: Row) -> str:
    return ", ".join(f"{NAMES[kind]} {number(value, row.unit)}" for kind, value in beside)


def _group(row: Row, beside: list[tuple[str, float]], y: float, most: float, limit: float | None) -> list[str]:
    height = BAR * len(beside)
    shapes, figures = [text(LABELS - 10, y + height / 2 + 4, row.name, "end")], []
    for place, (kind, value) in enumerate(beside):
        top = y + BAR * place
        width = _along(value, most) - LABELS
        shapes += [rectangle(LABELS, top, max(width, 1), BAR - 2, f"{kind} bar")]
        figures += [text(LABELS + width + 6, top + BAR - 3, number(value, row.unit), "dim figure")]
    if limit is not None and limit <= most:
        shapes.append(line(_along(limit, most), y - 3, _along(limit, most), y + height + 1, "limit"))
    return shapes + figures


def _along(value: float, most: float) -> float:
    return LABELS + value / most * (WIDTH - LABELS - RIGHT)


def _upright(tick: float, most: float, bottom: float) -> list[str]:
    x = _along(tick, most)
    return [line(x, TOP + 4, x, bottom, "grid"), text(x, bottom + 18, f"{tick:g}", "dim mid")]


def curves(title: str, rows: Sequence[Row]) -> str:
    """Draw each row as a line over its points, named at its end."""
    scale, points = ticks(max(value for row in rows for value in row.values)), rows[0].points
    left, right, bottom = EDGE + 40.0, WIDTH - CURVE_LABELS, TOP + CURVES_HEIGHT
    places = [left + (right - left) * place / max(1, len(points) - 1) for place in range(len(points))]
    shapes = [shape for tick in scale for shape in _level(tick, scale[-1], left, right)]
    shapes += [text(x, bottom + 20, point, "dim mid") for x, point in zip(places, points, strict=True)]
    ends = _apart([_up(row.values[-1], scale[-1]) for row in rows])
    for kind, row, end in zip(KINDS, rows, ends, strict=False):
        dots = [(x, _up(value, scale[-1])) for x, value in zip(places, row.values, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
        shapes.append(f'<polyline class="{kind} line" points="{path}"/>')
        shapes += [f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in dots]
        shapes.append(text(right + 12, end + 4, f"{row.name}: {number(row.values[-1], row.unit)}"))
        shapes.append(rectangle(right + 5, end - 4, 4, 8, f"{kind} bar"))
    told = "; ".join(f"{row.name}: {', '.join(number(value, row.unit) for value in row.values)}" for row in rows)
    head = text(EDGE, TOP - 12, rows[0].unit, "dim")
    return framed(title, f"Lines, {rows[0].unit}, at {', '.join(points)}. {told}.", bottom + 36, [head, *shapes])


def _up(value: float, most: float) -> float:
    return TOP + CURVES_HEIGHT * (1 - value / most)


def _level(tick: float, most: float, left: float, right: float) -> list[str]:
    y = _up(tick, most)
    return [line(left, y, right, y, "grid"), text(left - 8, y + 4, f"{tick:g}", "dim end")]


def _apart(places: Sequence[float], least: float = 17) -> list[float]:
    """Move labels up where they would lie on top of each other, from the lowest on."""
    moved = list(places)
    for before, after in pairwise(sorted(range(len(places)), key=places.__getitem__, reverse=True)):
        moved[after] = min(moved[after], moved[before] - least)
    return moved
