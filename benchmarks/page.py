"""The measured parts of docs/performance.md: the table between its markers, and the plots beside it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from benchmarks import ROOT, gates, memory, quiet, steps
from benchmarks.figures import Row, Unit
from benchmarks.plots import bars, curves
from benchmarks.table import markdown_table

PAGE, PLOTS = ROOT / "docs" / "performance.md", ROOT / "docs" / "performance"
_TABLE = re.compile(r"(<!-- table: [^\n]* -->\n).*(<!-- table: end -->)", re.DOTALL)


def write_page(run: str, rows: Sequence[Row]) -> None:
    """Write the table and every plot."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled(page, run, rows), encoding="utf-8")
    PLOTS.mkdir(exist_ok=True)
    for name, content in drawn(rows).items():
        (PLOTS / f"{name}.svg").write_text(content, encoding="utf-8")


def filled(page: str, run: str, rows: Sequence[Row]) -> str:
    """Return the page with these figures instead of those before."""
    return _TABLE.sub(lambda found: f"{found[1]}\nMeasured {run}.\n\n{markdown_table(rows)}\n\n{found[2]}", page)


def drawn(rows: Sequence[Row]) -> dict[str, str]:
    """Draw every plot, by the name of its file."""
    of = {section: [row for row in rows if row.section == section] for section in {row.section: None for row in rows}}
    asked = [row for row in of[steps.OVER_FLOOR] if any(row.script) or row.at_most]
    compared = [row for row in of[steps.LOCAL] if any(row.script)]
    gated = [*of[gates.OVERHEAD], *of[gates.STOP], *of[gates.DETECT]]
    growth = {section: found for section, found in of.items() if section.startswith("Growth with ")}
    return {
        "quiet": bars("Hooks with nothing to do, over a bare interpreter", of[quiet.SECTION]),
        "steps": bars("Steps with 100 ms added to every request, over their floor", asked),
        "local": bars("Steps without waiting, over a bare interpreter", compared),
        "gates": bars("Gates, over a bare interpreter", [one for row in gated for one in _split(row)]),
        "memory": bars("Peak memory, over a bare interpreter", _multiples(of[memory.SECTION])),
        **{_file(section): curves(section, found) for section, found in growth.items()},
    }


def _split(row: Row) -> list[Row]:
    """Return a row of one value for each point."""
    columns = zip_longest(row.points, row.values, row.script, row.rival, row.at_most)
    return [
        replace(row, name=f"{row.name}, {point}".rstrip(", "), points=(point,), values=(value,), spreads=(),
                script=(script,), rival=(rival,), at_most=(most,))
        for point, value, script, rival, most in columns
    ]  # fmt: skip


def _multiples(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.unit is Unit.BARE]


def _file(section: str) -> str:
    return section.lower().replace("growth with ", "growth-").replace(" ", "-")
