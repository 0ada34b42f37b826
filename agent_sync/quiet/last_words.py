"""Keeps the input of a hook that had nothing to do, for the recovery record; `os` alone."""

import os

from agent_sync import worktree as place
from agent_sync.quiet.answer import cwd_in, process_dir

# How the client begins a prompt that no human typed.
WAKE_UP = b"<task-notification"


def keep_input(hook: str, raw: bytes) -> None:
    """Keep the input where a task is recorded: what was said last is read when the record is next looked at.

    A prompt is kept without a task, too: it may lead to one.
    """
    if hook == "on-prompt" and WAKE_UP in raw:
        # Nobody has said that, and what somebody said before is kept still.
        return
    where = place.place_of([cwd_in(raw) or "", process_dir()], os.environ.get("CLAUDE_PROJECT_DIR", ""))
    if where is None:
        return
    if not os.path.lexists(place.record_pointer(where)) and hook != "on-prompt":
        return
    target = place.spool_file(where, hook)
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        # What people say is theirs alone, and may hold what the record would mask.
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(raw)
        os.replace(temporary, target)
    except OSError:
        # Only the latest words are lost, and a hook that has nothing to do does not complain.
        return


def keep_end(raw: bytes) -> None:
    """Note that a session ended in the ordinary way; a prompt of it that led to no task is deleted."""
    where = place.place_of([cwd_in(raw) or "", process_dir()], os.environ.get("CLAUDE_PROJECT_DIR", ""))
    if where is None:
        return
    if os.path.lexists(place.record_pointer(where)):
        keep_input("on-end", raw)
        return
    try:
        os.unlink(place.spool_file(where, "on-prompt"))
    except OSError:
        return
