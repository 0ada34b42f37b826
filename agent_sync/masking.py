"""Keeps secrets out of whatever is written or said."""

import re

# GitHub's token shapes, and anything in the place of a password.
_SECRETS = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{8,}|github_pat_\w{8,}|v1\.[0-9a-f]{40})\b"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
    r"|(?i:(?<=bearer )|(?<=token ))[A-Za-z0-9._-]{12,}"
)


def masked(text: str) -> str:
    """Return `text` with everything that looks like a token or a password replaced."""
    return _SECRETS.sub("***", text)
