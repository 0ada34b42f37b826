"""Takes the lines of a failed gate's output that are worth showing at once: the first, and the last of a long one."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

from agent_sync.gates.reviews.findings import read_stored
from agent_sync.gates.run.results import JobResult
from agent_sync.lazy_patterns import pattern

LONGEST_LINE = 300
# So much of each end of a log is read, however long it is.
_READ = 32 << 10
_LEFT_OUT = "[…]"
# Terminal control: sequences that begin with ESC [ or ESC ], and the two-character ones.
_ESCAPES = pattern(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def failing_output(result: JobResult, *, first: int, last: int) -> list[str]:
    """Return at most `first` + `last` lines, and a mark between them where some are left out."""
    lines = list(_log_lines(result.log, result.output)) if result.log and result.output else []
    lines += [str(finding) for path in result.findings for finding in _open_findings(path)]
    shown = [line for line in map(_plain_line, lines) if line is not None]
    if len(shown) <= first + last:
        return shown
    return [*shown[:first], _LEFT_OUT, *shown[-last:]]


def _log_lines(log: Path, span: tuple[int, int]) -> Iterator[str]:
    """Yield the output's lines from both of its ends; the log's secrets are masked already."""
    start, end = span
    try:
        with log.open("rb") as file:
            file.seek(start)
            head = file.read(min(end - start, _READ))
            rest = max(start + len(head), end - _READ)
            file.seek(rest)
            tail = file.read(end - rest)
    except OSError:
        return
    yield from _lines(head)
    if rest > start + len(head):
        yield _LEFT_OUT
    yield from _lines(tail)


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").split("\n")


def _open_findings(path: Path) -> Iterator[object]:
    stored = read_stored(path)
    yield from (finding for finding in stored.findings if finding.is_open) if stored else ()


def _plain_line(line: str) -> str | None:
    """Return a line as a terminal would leave it, without anything that cannot be seen; None for an empty one."""
    final = _ESCAPES.sub("", line).rstrip("\r").rpartition("\r")[2].expandtabs()
    seen = "".join(char for char in final if unicodedata.category(char) not in _UNSEEN).rstrip()
    if not seen:
        return None
    return seen if len(seen) <= LONGEST_LINE else seen[: LONGEST_LINE - 1] + "…"
