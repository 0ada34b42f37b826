"""Shows changes as unified diffs."""

import difflib
import unicodedata
from collections.abc import Iterator

from agent_sync.setup.install.plan import FileChange

NOWHERE = "/dev/null"


def diff(change: FileChange) -> list[str]:
    """Return the lines of a change's unified diff."""
    before, after = _lines(change.before), _lines(change.after)
    old = f"a/{change.path}" if change.before is not None else NOWHERE
    new = f"b/{change.path}" if change.after is not None else NOWHERE
    compared = list(difflib.unified_diff(before, after, old, new, lineterm=""))
    return [shown for line in compared for shown in _shown_line(line)]


def verb(change: FileChange) -> str:
    """Return what becomes of the file, in one word."""
    if change.after is None:
        return "delete"
    return "create" if change.before is None else "change"


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", errors="replace").splitlines(keepends=True)


def _shown_line(line: str) -> Iterator[str]:
    """Return a line without its end; one that has none is followed by git's own words for that."""
    text = line.rstrip("\r\n")
    # The file may be anybody's: nothing in it may steer the terminal.
    yield "".join(char if char == "\t" or unicodedata.category(char) not in {"Cc", "Cf"} else "\ufffd" for char in text)
    is_content = line[:1] in {"+", "-", " "} and not line.startswith(("+++ ", "--- "))
    if is_content and text == line:
        yield "\\ No newline at end of file"
