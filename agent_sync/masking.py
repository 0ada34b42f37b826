"""Keeps secrets out of whatever is written or said."""

import re

# GitHub's token shapes, those of other services agents meet, and anything in the place of a password.
_SECRETS = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{8,}|github_pat_\w{8,}|v1\.[0-9a-f]{40})\b"
    r"|\b(?:sk-[A-Za-z0-9_-]{16,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|npm_[A-Za-z0-9]{30,}|AKIA[0-9A-Z]{16})\b"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
    r"|(?i:(?<=bearer )|(?<=token ))[A-Za-z0-9._-]{12,}"
    r"|(?i:(?<=token=)|(?<=password=)|(?<=passwd=)|(?<=secret=)|(?<=api_key=)|(?<=apikey=))[^\s'\"$&]{4,}"
)


def masked(text: str) -> str:
    """Return `text` with everything that looks like a token or a password replaced."""
    return _SECRETS.sub("***", text)
