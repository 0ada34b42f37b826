"""The lines of `.gitignore` that keep the claim, and worktrees of Claude Code, out of commits."""

from agent_sync.setup.install.edits import Edit
from agent_sync.setup.install.insert import line_ending
from agent_sync.worktree import CLAIM_NAME

MARK = "# agent-sync: the claim held in this worktree"
LINES = (CLAIM_NAME, f"{CLAIM_NAME}.*", ".claude/worktrees/")


def missing_edits(text: str) -> list[Edit]:
    """Return the edit that appends what is missing; none where every line is there."""
    there = {line.strip().removeprefix("/") for line in text.splitlines()}
    missing = [line for line in LINES if line not in there]
    if not missing:
        return []
    ending = line_ending(text)
    # A last line without an end must not run into ours, and a blank line keeps the blocks apart.
    lead = (ending if not text.endswith("\n") else "") + ending if text else ""
    return [Edit(len(text), lead + ending.join([MARK, *missing, ""]))]


def without_ours(text: str) -> str:
    """Return the text without our block, recognised by its mark."""
    lines = text.splitlines(keepends=True)
    places = [place for place, line in enumerate(lines) if line.strip() == MARK]
    for place in reversed(places):
        end = place + 1
        while end < len(lines) and lines[end].strip() in LINES:
            end += 1
        start = place - 1 if place and not lines[place - 1].strip() else place
        del lines[start:end]
    return "".join(lines)
