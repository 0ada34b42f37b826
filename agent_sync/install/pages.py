"""The command pages of Claude Code: `/claim`, `/handoff`, `/done` and `/status`."""

from importlib.resources import files

from agent_sync.install.signature import signed

NAMES = ("claim", "handoff", "done", "status")
DIRECTORY = ".claude/commands"
_FIRST_LINE = "---\n"


def pages() -> dict[str, bytes]:
    """Map the path of every page to what it should say."""
    folder = files("agent_sync.templates") / "commands"
    return {f"{DIRECTORY}/{name}.md": _page((folder / f"{name}.md").read_text("utf-8")) for name in NAMES}


def _page(template: str) -> bytes:
    # Inside the front matter the line is a comment, which no model reads.
    return signed(template, after=_FIRST_LINE).encode()
