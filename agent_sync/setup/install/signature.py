"""Marks files we wrote whole, so that one nobody has changed since can be told from one that is the user's now."""

import hashlib
import re

from agent_sync.lazy_patterns import pattern

_LINE = pattern(r"^# agent-sync init ([0-9a-f]{12})\n", re.MULTILINE)


def with_signature(text: str, *, after: str = "") -> str:
    """Return the text with a line that carries its digest, right after a first line that must stay first."""
    head, rest = text[: len(after)], text[len(after) :]
    return f"{head}# agent-sync init {_digest(text)}\n{rest}"


def is_unchanged(content: bytes) -> bool:
    """Tell whether some version of agent-sync wrote exactly this; line endings may have been converted."""
    text = content.decode("utf-8", errors="replace").replace("\r\n", "\n")
    found = _LINE.search(text)
    return found is not None and found[1] == _digest(text[: found.start()] + text[found.end() :])


def is_signed(content: bytes) -> bool:
    """Tell whether it began as a file of ours."""
    return bool(_LINE.search(content.decode("utf-8", errors="replace").replace("\r\n", "\n")))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
