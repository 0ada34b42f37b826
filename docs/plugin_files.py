"""Makes the Claude Code plugin from what `init` writes: the same hooks and the same pages, for docs/generate.py.

The repository's root is a marketplace with one plugin, which lies in `claude-plugin/`. Only that folder is copied to a
user's machine.
"""

import json
import sys
from pathlib import Path
from typing import Any

from agent_sync import __version__
from agent_sync.setup.client.plugin import NAME
from agent_sync.setup.install.entries import HOOKS
from agent_sync.setup.install.pages import NAMES, template

ROOT = Path(__file__).resolve().parent.parent
MARKETPLACE = ROOT / ".claude-plugin" / "marketplace.json"
FOLDER = ROOT / "claude-plugin"
PAGES = FOLDER / "commands"
DESCRIPTION = "Takes a coding agent's task on GitHub from claim to close. Needs the agent-sync command on PATH."
_FIRST_LINE = "---\n"


def plugin_files() -> dict[Path, str]:
    """Map every file of the plugin and its marketplace to what it should say."""
    return {
        MARKETPLACE: _json(_marketplace()),
        FOLDER / ".claude-plugin" / "plugin.json": _json(_manifest()),
        # The client loads it by its name: the manifest does not mention it.
        FOLDER / "hooks" / "hooks.json": _json({"hooks": {event: [group] for event, group in HOOKS.items()}}),
        **{PAGES / f"{name}.md": _page(name) for name in NAMES},
    }


def leftover_pages() -> list[Path]:
    """List pages in the plugin's folder that none is made for."""
    return [path for path in sorted(PAGES.glob("*.md")) if path not in plugin_files()]


def _marketplace() -> dict[str, Any]:
    plugin = {"name": NAME, "source": f"./{FOLDER.name}", "description": DESCRIPTION}
    return {"name": NAME, "description": DESCRIPTION, "owner": {"name": NAME}, "plugins": [plugin]}


def _manifest() -> dict[str, Any]:
    # The client updates a plugin only when its version changes.
    return {
        "name": NAME,
        "version": __version__,
        "description": DESCRIPTION,
        "author": {"name": NAME},
        "homepage": _address(),
        "repository": _address(),
        "license": "MIT",
        "keywords": ["github", "issues", "pull-requests", "claims"],
    }


def _page(name: str) -> str:
    """Return a page that also answers to its bare name: without one, only to the plugin's name before it."""
    return template(name).replace(_FIRST_LINE, f"{_FIRST_LINE}name: {name}\n", 1)


def _address() -> str:
    sys.path.insert(0, str(ROOT / "tools"))
    from address import repository_address

    return repository_address()


def _json(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"
