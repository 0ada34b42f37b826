"""The command pages of Claude Code: `/claim`, `/handoff`, `/done` and `/task`."""

from importlib.resources import files

from agent_sync.setup.install.signature import with_signature

NAMES = ("claim", "handoff", "done", "task")
DIRECTORY = ".claude/commands"
# Written by 0.1.0 under a name that the client uses for a command of its own.
FORMER = (f"{DIRECTORY}/status.md",)
_FIRST_LINE = "---\n"


def pages() -> dict[str, bytes]:
    """Map the path of every page to what it should say."""
    # Inside the front matter the signature is a comment, which no model reads.
    return {f"{DIRECTORY}/{name}.md": with_signature(template(name), after=_FIRST_LINE).encode() for name in NAMES}


def template(name: str) -> str:
    """Return a page as it is before it is signed."""
    return (files("agent_sync.setup.templates") / "commands" / f"{name}.md").read_text("utf-8")
