"""The table of a sweep: of each family what was tried, survived, lost and duplicated."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prove.case import BAD, Ending, Family, Verdict
from prove.journal import Journal

BEGIN, END = "<!-- proof: written by make prove -->", "<!-- proof: end -->"
_SHOWN = (Verdict.SURVIVED, Verdict.LOST, Verdict.DUPLICATED, Verdict.FAILED, Verdict.SKIPPED)


@dataclass(frozen=True)
class Row:
    """One family: how many cases it has, how many have ended, and how; `tries` counts what was tried in them."""

    family: str
    promise: str
    cases: int
    ended: int
    tries: int
    verdicts: Counter[Verdict]

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as texts."""
        counts = (str(self.verdicts[verdict]) for verdict in _SHOWN)
        return (self.family, f"{self.ended} of {self.cases}", str(self.tries), *counts)


HEAD = ("family", "cases", "tried", *(verdict.value for verdict in _SHOWN))


def rows(families: Sequence[Family], journal: Journal) -> list[Row]:
    """Return a row for each family whose cases are known."""
    return [_row(family, journal) for family in families if family.name in journal.names]


def _row(family: Family, journal: Journal) -> Row:
    known = journal.names[family.name]
    ended = [ending for case in known if (ending := journal.endings.get((family.name, case)))]
    tries = sum(ending.tries for ending in ended if ending.verdict is not Verdict.SKIPPED)
    return Row(family.name, family.promise, len(known), len(ended), tries, Counter(ending.verdict for ending in ended))


def bad_endings(families: Sequence[Family], journal: Journal) -> list[tuple[str, str, Ending]]:
    """Return every case that did not survive."""
    wanted = {family.name for family in families}
    found = ((family, case, ending) for (family, case), ending in journal.endings.items() if family in wanted)
    return [(family, case, ending) for family, case, ending in found if ending.verdict in BAD]


def text(found: Sequence[Row]) -> str:
    """Return the table for a terminal."""
    lines = [HEAD, *(row.cells for row in found)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def markdown(found: Sequence[Row], command: str, now: datetime) -> str:
    """Return the table for the document, with its date and command."""
    head = ("what is done", *HEAD[1:])
    lines = [f"| {' | '.join(head)} |", "|---" + "|--:" * (len(head) - 1) + "|"]
    lines += [f"| {row.promise} (`{row.family}`) | {' | '.join(row.cells[1:])} |" for row in found]
    return f"`{command}` on {now.astimezone(UTC):%Y-%m-%d}:\n\n" + "\n".join(lines)


def write(document: Path, table: str) -> None:
    """Replace the table in a document."""
    content = document.read_text(encoding="utf-8")
    before, found, rest = content.partition(BEGIN)
    if not found:
        raise ValueError(f"{document} has no place for the table: {BEGIN}")
    after = rest.partition(END)[2]
    document.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")
