"""Measures what agent-sync costs in one run, and prints one table; `--help` says what can be left out."""

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.figures import Row, Unit, broken_counts
from benchmarks.gates import gate_rows
from benchmarks.growth import growth_rows
from benchmarks.imports import import_rows
from benchmarks.memory import memory_rows
from benchmarks.page import write_page
from benchmarks.quiet import quiet_rows
from benchmarks.race import race_rows
from benchmarks.steps import step_rows
from benchmarks.table import text_table
from benchmarks.turns import QUICK, Effort

MEASURES = {
    "quiet": quiet_rows,
    "steps": step_rows,
    "gates": gate_rows,
    "growth": growth_rows,
    "race": race_rows,
    "memory": memory_rows,
    "imports": import_rows,
}


def main() -> int:
    """Measure, print, and fail if a count is over its limit."""
    options = _options()
    effort = QUICK if options.quick else Effort()
    rows = kept(options.read) if options.read else measured(options.only or list(MEASURES), effort)
    run = _content(options.read[-1])["run"] if options.read else described(effort)
    print(text_table(rows))
    if options.json:
        content = json.dumps({"run": run, "rows": [asdict(row) for row in rows]}, indent=1, ensure_ascii=False)
        Path(options.json).write_text(f"{content}\n", encoding="utf-8")
    if options.write:
        write_page(run, rows)
    for broken in (over := broken_counts(rows)):
        print(f"over its limit: {broken}", file=sys.stderr)
    return 1 if over else 0


def measured(names: list[str], effort: Effort) -> list[Row]:
    """Measure what is named, and say on the way how far it is."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="agent-sync-bench-", ignore_cleanup_errors=True) as scratch:
        for name in names:
            began, place = time.monotonic(), Path(scratch) / name
            place.mkdir()
            rows += MEASURES[name](place, effort)
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return rows


def kept(files: list[str]) -> list[Row]:
    """Return the figures of earlier runs."""
    return [_row(values) for file in files for values in _content(file)["rows"]]


def _content(file: str) -> dict[str, Any]:
    return dict(json.loads(Path(file).read_text(encoding="utf-8")))


def described(effort: Effort) -> str:
    """Say when, with what and how often was measured."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    machine = f"{platform.system()}, {os.cpu_count()} cores with a load of {os.getloadavg()[1]:.1f}"
    often = f"{effort.quiet} rounds of quiet hooks, {effort.steps} of steps, {effort.gates} of gates"
    today, python = time.strftime("%Y-%m-%d", time.gmtime()), platform.python_version()
    return f"{today}, Python {python}, git {git}, {machine}; {often}, {effort.growth} of growth"


def _row(values: dict[str, object]) -> Row:
    """Return a row as it was kept in JSON."""
    tuples = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return Row(**tuples | {"unit": Unit(values["unit"])})  # type: ignore[arg-type]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and without the largest sizes")
    parser.add_argument("--only", action="append", choices=MEASURES, help="measure this alone; can be repeated")
    parser.add_argument("--json", metavar="FILE", help="keep the figures")
    parser.add_argument("--read", metavar="FILE", action="append", help="measure nothing, show what was kept")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md and its plots")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write needs every figure: leave --only out")
    return options


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
