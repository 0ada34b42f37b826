"""`python -m prove`: play the long sweeps, print the table, and fail if anything was lost or done twice."""

import argparse
import contextlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from support.clients import Nursery
from support.surroundings import foreign_names, plain_values

from prove.case import Family
from prove.families import FAMILIES
from prove.journal import Journal, tree_of
from prove.sweep import SourcesChangedError, Sweep
from prove.table import bad_endings, markdown, rows, text, write

ROOT = Path(__file__).resolve().parent.parent.parent
# What a shell says of a program that was interrupted.
INTERRUPTED = 128 + signal.SIGINT
DOCUMENT = ROOT / "docs" / "reliability.md"


def main(arguments: list[str]) -> int:
    """Play what is left, and return the exit status."""
    asked = _asked(arguments)
    families = [family for family in FAMILIES if not asked.family or family.name in asked.family]
    journal = Journal.opened(asked.journal, tree_of(ROOT))
    if asked.fresh:
        journal.forget()
    try:
        _play(asked, families, journal)
    except KeyboardInterrupt:
        _say("interrupted: the same command goes on with what is left")
        return INTERRUPTED
    except SourcesChangedError:
        _say("the sources have changed: what has ended before is kept; the same command begins with the new ones")
        return INTERRUPTED
    found, bad = rows(families, journal), bad_endings(families, journal)
    _say(text(found))
    for family, case, ending in bad:
        _say(
            f"\n{ending.verdict}: {family}: {case}\n  {ending.said}\n  again: make prove FAMILY={family} CASE='{case}'"
        )
    if asked.write:
        write(DOCUMENT, markdown(found, asked.command, datetime.now(UTC)))
    return 1 if bad else 0


def _play(asked: argparse.Namespace, families: Sequence[Family], journal: Journal) -> None:
    with tempfile.TemporaryDirectory(prefix="prove-home-") as home, contextlib.ExitStack() as stack:
        for name in foreign_names(list(os.environ)):
            del os.environ[name]
        os.environ.update(plain_values(Path(home)))
        nurseries = [stack.enter_context(contextlib.closing(Nursery())) for _ in range(asked.jobs)]
        sweep = Sweep(families, journal, _say, frozenset(asked.case), lambda: tree_of(ROOT) == journal.tree)
        sweep.play(nurseries, ends_at=time.monotonic() + asked.seconds if asked.seconds else float("inf"))


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make prove", description=__doc__)
    names = [family.name for family in FAMILIES]
    parser.add_argument("--family", action="append", default=[], choices=names, help="only this family (repeatable)")
    parser.add_argument("--case", action="append", default=[], help="only this case, also if it has ended (repeatable)")
    parser.add_argument("--seconds", type=float, default=0.0, help="begin nothing that would end later than this")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 2, help="how many cases at once")
    parser.add_argument("--fresh", action="store_true", help="forget what has been tried on these sources")
    parser.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    parser.add_argument("--command", default="make prove", help="the command that the document names")
    parser.add_argument(
        "--journal", type=Path, default=ROOT / "build" / "prove" / "journal.jsonl", help="where it is kept"
    )
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    # Ended in whatever way, it ends what it plays: cases lead sessions of their own.
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)
    raise SystemExit(main(sys.argv[1:]))
