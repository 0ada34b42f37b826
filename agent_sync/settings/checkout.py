"""Finds the variables that a settings file of the checkout has put into the environment: they are its word.

Claude Code exports what `env` in `.claude/settings.json` says to every hook, so a branch could set them.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from agent_sync.system import files
from agent_sync.worktree import CLAUDE_SETTINGS

# Beside our own: where files of the user are looked for, what git runs, where requests go and whom they believe.
_PREFIXES = ("AGENT_SYNC_", "MOLTNET_", "GAUNTLET_", "GIT_", "ATLAS_", "XDG_", "SSL_CERT_", "SSH_ASKPASS")
_NAMES = frozenset(
    {
        "HOME",
        "GH_HOST",
        "GH_CONFIG_DIR",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
    }
)


def set_by_checkout(environment: Mapping[str, str], directories: Iterable[str]) -> dict[str, str]:
    """Return the variables that matter here and that a settings file in these directories sets; name and file."""
    found: dict[str, str] = {}
    for directory in dict.fromkeys(filter(None, directories)):
        for name in CLAUDE_SETTINGS:
            content = _content(Path(directory) / name)
            found |= dict.fromkeys(_named(content, environment), name) if content else {}
    return found


def matters(name: str) -> bool:
    """Tell whether a variable is one that only the user may set."""
    return name.startswith(_PREFIXES) or name.upper() in _NAMES


def _content(file: Path) -> bytes:
    """Return the file's bytes; it is only looked at for what not to believe, so a link may be followed."""
    try:
        return files.read_plain(file, may_be_link=True) or b""
    except files.NotPlain:
        return b""


def _named(content: bytes, environment: Mapping[str, str]) -> list[str]:
    """Return which variables have the value that a settings file gives them."""
    mattering = [name for name in environment if matters(name)]
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        # Comments are allowed there: where it cannot be parsed, being named is enough to be doubted.
        text = content.decode(errors="replace")
        return [name for name in mattering if f'"{name}"' in text and '"env"' in text]
    given = values.get("env") if isinstance(values, dict) else None
    named = given if isinstance(given, dict) else {}
    return [name for name in mattering if name in named and _text(named[name]) == environment[name]]


def _text(value: object) -> str:
    """Return a value of JSON as the client writes it into the environment."""
    return value if isinstance(value, str) else json.dumps(value)
