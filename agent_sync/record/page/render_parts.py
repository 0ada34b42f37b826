"""The small shapes of HOOK.md: foreign text goes only into code, where Markdown means nothing."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from agent_sync.task.decision.outside_text import one_line

_PLAIN = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
# Control, format, surrogate, private, unassigned, and the separators of lines and paragraphs.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_LARGEST_BLOCK = 4000
_DAY, _HOUR, _MINUTE = 86400, 3600, 60


def code(text: str, *, limit: int = 200) -> str:
    """Return `text` as one line of code that nothing inside it can end."""
    line = one_line(text, limit=limit) or "(none)"
    fence = "`" * (_longest_run(line) + 1)
    # Without the space, a backtick at the edge would join the fence.
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def plain(text: str) -> str:
    """Return a name as it is where it is made of letters, digits and single hyphens, and as code elsewhere."""
    return text if _PLAIN.fullmatch(text) else code(text)


def row(*cells: str) -> str:
    """Return the row of a table; a bar inside a cell, be it in code, would begin another cell."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def fenced(text: str) -> list[str]:
    """Return `text` as a block of code, with a fence that no line of it can end."""
    lines = [_visible(line) for line in text[-_LARGEST_BLOCK:].splitlines()]
    fence = "`" * max(3, _longest_run("\n".join(lines)) + 1)
    return [fence, *lines, fence]


def numbered(items: Iterable[str]) -> list[str]:
    """Return a numbered list."""
    return [f"{number}. {item}" for number, item in enumerate(items, 1)]


def moment(when: datetime) -> str:
    """Return a moment that is right whenever it is read."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def length(time: timedelta) -> str:
    """Return how long something took, in the two largest units that say something."""
    seconds = max(0, int(time.total_seconds()))
    days, hours, minutes = seconds // _DAY, seconds % _DAY // _HOUR, seconds % _HOUR // _MINUTE
    units = [f"{days}d", f"{hours}h", f"{minutes}m", f"{seconds % _MINUTE}s"]
    said = [unit for unit in units if not unit.startswith("0")]
    return " ".join(said[:2]) or "0s"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _visible(line: str) -> str:
    """Keep a line's own shape, and drop what a terminal or an editor would obey."""
    return "".join(char for char in line if char == "\t" or unicodedata.category(char) not in _UNSEEN)
