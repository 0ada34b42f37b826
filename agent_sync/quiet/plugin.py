"""Tells whether a hook that the plugin runs is registered in a settings file, too; `os` alone, for the quiet path.

The client runs both. One of the two must be silent, and only a hook of a plugin is told where it comes from.
"""

import os

from agent_sync import worktree as place
from agent_sync.quiet import answer as quiet

# The type checker knows this name without the module `typing`, which would have to be loaded.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def settings_files(root: str, main: str, environment: "Mapping[str, str]") -> "dict[str, str]":
    """Map the name of every settings file that the client reads in `root` to its path.

    From a worktree the client reads the local settings of the main checkout, too.
    """
    home = environment.get("CLAUDE_CONFIG_DIR") or os.path.join(environment.get("HOME", ""), ".claude")
    named = {name: os.path.join(root, name) for name in place.CLAUDE_SETTINGS}
    if main != root:
        shared = os.path.join(main, place.CLAUDE_SETTINGS[1])
        named[shared] = shared
    return named | {"~/.claude/settings.json": os.path.join(home, "settings.json")}


def settings_here() -> list[str]:
    """Return the settings files of the session that this hook belongs to."""
    root = os.environ.get("CLAUDE_PROJECT_DIR") or quiet.process_dir()
    where = place.worktree(root) if root else None
    main = os.path.dirname(where.common_dir) if where and where.root == os.path.realpath(root) else root
    return list(settings_files(root, main, os.environ).values())


def is_registered(hook: str) -> bool | None:
    """Tell whether a settings file runs this hook of ours; None where only a parser can tell."""
    in_doubt = False
    for path in settings_here():
        text = quiet.read_plain(path, may_be_link=True)
        if hook not in text:
            # An escaped name would be missed.
            in_doubt = in_doubt or "\\u" in text
        elif f"agent-sync {hook}" in text and "//" not in text and "/*" not in text:
            return True
        else:
            in_doubt = True
    return None if in_doubt else False
