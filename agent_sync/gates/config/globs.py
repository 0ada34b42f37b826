"""Path patterns as projects write them: `*`, `**`, `?`, `[…]` and `{…}`."""

import re
from functools import lru_cache

GLOB_CHARACTERS = frozenset("*?[{")


def is_glob(path: str) -> bool:
    """Tell whether a path is a pattern."""
    return not GLOB_CHARACTERS.isdisjoint(path)


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern as a regular expression; what does not close stands for itself."""
    return re.compile(_translated(pattern), re.DOTALL)


def _translated(pattern: str) -> str:
    out, at, depth = [], 0, 0
    while at < len(pattern):
        piece, at, depth = _piece(pattern, at, depth)
        out.append(piece)
    return "".join(out)


def _piece(pattern: str, at: int, depth: int) -> tuple[str, int, int]:
    """Return the expression for what stands at `at`, where the next piece begins, and how deep in braces it is."""
    sign = pattern[at]
    if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
        return "(?:[^/]+/)*", at + 3, depth
    if pattern.startswith("**", at):
        return ".*", at + 2, depth
    if sign == "*":
        return "[^/]*", at + 1, depth
    if sign == "?":
        return "[^/]", at + 1, depth
    if sign == "[" and (end := _class_end(pattern, at)):
        return _class(pattern[at + 1 : end]), end + 1, depth
    if sign == "{" and "}" in pattern[at:]:
        return "(?:", at + 1, depth + 1
    if depth and sign == ",":
        return "|", at + 1, depth
    if depth and sign == "}":
        return ")", at + 1, depth - 1
    if sign == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2, depth
    return re.escape(sign), at + 1, depth


def _class_end(pattern: str, at: int) -> int:
    end = pattern.find("]", at + 2)
    return max(end, 0)


def _class(inside: str) -> str:
    negated = inside.startswith(("!", "^"))
    body = (inside[1:] if negated else inside).replace("\\", "\\\\").replace("[", "\\[").replace("&&", "&\\&")
    try:
        re.compile(f"[{body}]")
    except re.error:
        return re.escape(f"[{inside}]")
    return f"(?!/)[{'^' if negated else ''}{body}]"
