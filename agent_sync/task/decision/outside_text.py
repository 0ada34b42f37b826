"""Makes text from outside harmless: issue titles, check names and the like are data, never instructions."""

import unicodedata

# Cc control, Cf format (zero-width, bidi), Cs surrogates, Co private use, Zl/Zp line and paragraph separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def one_line(text: str, *, limit: int = 120) -> str:
    """Return `text` as one visible line of at most `limit` characters."""
    spaced = " ".join(text.split())
    seen = "".join(char for char in spaced if unicodedata.category(char) not in _UNSEEN)
    return seen if len(seen) <= limit else seen[: limit - 1].rstrip() + "…"


def escaped(text: str, *, limit: int = 1000) -> str:
    """Return `text` as one line that shows what cannot be seen, for evidence of which nothing may be dropped."""
    seen = "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in _UNSEEN else char for char in text
    )
    return seen if len(seen) <= limit else seen[: limit - 1] + "…"


def quoted(text: str, *, limit: int = 120) -> str:
    """Return `text` as one line in quotation marks, which it cannot end, for a sentence that an agent reads."""
    return '"' + one_line(text, limit=limit).replace('"', "'").replace("`", "'") + '"'
