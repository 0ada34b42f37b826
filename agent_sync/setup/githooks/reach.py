"""Proves by effect whether a commit gets to our lines in the post-commit hook."""

import tempfile
from enum import Enum
from pathlib import Path

from agent_sync.setup.githooks import file as githook_file, text as texts
from agent_sync.setup.githooks.place import hook_place
from agent_sync.system import files
from agent_sync.system.git import Git
from agent_sync.system.git_hooks import run_hook
from agent_sync.worktree import Place


class Reach(Enum):
    """Whether a commit gets to our lines."""

    REACHED = "git runs the hook and gets to our lines"
    ABSENT = "the hook does not call agent-sync"
    UNREACHED = "our lines are there, but git does not get to them"
    UNPROVEN = "something else would run before our lines, so it was not tried"


def reachable(git: Git, place: Place) -> Reach:
    """Have git run the hook, which only leaves a mark and ends; where more than that would run, nothing is tried."""
    try:
        text = githook_file.read(hook_place(git, place).edited).text
    except (OSError, files.NotPlain):
        return Reach.ABSENT
    if not texts.calls(text, texts.POST_COMMIT):
        return Reach.ABSENT
    if not texts.begins_with_ours(text):
        return Reach.UNPROVEN
    return Reach.REACHED if _leaves_mark(git) else Reach.UNREACHED


def _leaves_mark(git: Git) -> bool:
    with tempfile.TemporaryDirectory(prefix="agent-sync-") as directory:
        mark = Path(directory, "reached")
        run_hook(git, texts.POST_COMMIT.name, {texts.PROBE: str(mark)})
        return mark.exists()
