"""Finds the end of the failing step in the log of a job, as lines that no terminal and no reader is harmed by."""

import re
import unicodedata
from itertools import pairwise

from agent_sync.lazy_patterns import pattern

TAIL_LINES = 60
LONGEST_LINE = 300
_ESCAPES = pattern(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_STAMP = pattern(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z ?")
_GROUP = "##[group]Run "
_ERROR = "##[error]"
# Cc control, Cf format (zero-width, bidi), Cs surrogates, Co private use, Cn unassigned, Zl/Zp separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def log_lines(log: str) -> tuple[str, ...]:
    """Return the lines of a log without time stamps, escape codes and characters that cannot be seen."""
    return tuple(_clean(line) for line in re.split(r"\r?\n", log.rstrip("\r\n"))) if log.strip() else ()


def failing_tail(lines: tuple[str, ...], step: str) -> tuple[str, ...]:
    """Return the last lines of the failing step: of the section named after it, else of the last one with an error."""
    section = _section(lines, step)
    return tuple(_shown(line) for line in section if _is_worth_showing(line))[-TAIL_LINES:]


def _section(lines: tuple[str, ...], step: str) -> tuple[str, ...]:
    starts = [place for place, line in enumerate(lines) if line.startswith(_GROUP)]
    sections = [lines[start:end] for start, end in pairwise((*starts, len(lines)))]
    named = [section for section in sections if step and section[0].removeprefix(_GROUP).strip() == step]
    failed = named or [section for section in sections if any(line.startswith(_ERROR) for line in section)]
    return _up_to_error(failed[-1]) if failed else lines


def _up_to_error(section: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out what follows the last error: cleaning up belongs to no step's failure."""
    errors = [place for place, line in enumerate(section) if line.startswith(_ERROR)]
    return section[: errors[-1] + 1] if errors else section


def _is_worth_showing(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("##[endgroup]")


def _shown(line: str) -> str:
    plain = line.removeprefix("##[group]").replace(_ERROR, "error: ", 1) if line.startswith("##[") else line
    return plain if len(plain) <= LONGEST_LINE else plain[: LONGEST_LINE - 1] + "…"


def _clean(line: str) -> str:
    # A carriage return overwrites what stands before it, as progress bars do; only the last text was meant to stay.
    text = _ESCAPES.sub("", _STAMP.sub("", line)).rstrip("\r").rpartition("\r")[2].replace("\t", "    ")
    return "".join(char for char in text if unicodedata.category(char) not in _UNSEEN).rstrip()
