"""Answers the stops that certainly need no run, with `os`, `sys` and `time` alone; in any doubt it has no answer.

A full answer leaves a stamp where the interval has not elapsed, and one where the gates have passed or there is nothing
for them to look at. As long as the
same look gives the same text, the answer is the same but for the time that remains.
"""

import os

from agent_sync import worktree as place
from agent_sync.quiet import answer as quiet, unchanged, wording
from agent_sync.worktree import Place

PREFIXES = ("GAUNTLET_", "AGENT_SYNC_", "HOME", "XDG_CONFIG_HOME", "CLAUDE_PROJECT_DIR")
VERIFY_VARIABLE = "AGENT_SYNC_GATE_VERIFY_ACTIVE"
_QUOTE, _BACKSLASH = 34, 92
_PASS_DETAILS = 3
# Stands where a pass has the time since when it holds.
NO_CHANGES = "no_changes"


def line(raw: bytes, *, verifies: bool = False) -> str | None:
    """Return the reply to a stop, or None where only the full gate can tell.

    With `verifies` that is so for every stop that follows a block.
    """
    if quiet.is_nested():
        return approval("stop_hook_active", wording.NESTED)
    cwd, is_active = quiet.cwd_in(raw), flag(raw, b"stop_hook_active")
    if cwd is None or is_active is None or not _has_no_tasks(raw):
        return None
    where = place.place_of([cwd, quiet.process_dir()], os.environ.get("CLAUDE_PROJECT_DIR", ""))
    if is_active:
        return None if verifies or _may_verify(where) else approval("stop_hook_active", wording.ACTIVE)
    root = place.gate_root(cwd, where.root) if where else None
    if where is None or root is None:
        return approval("no_config", wording.NO_CONFIG)
    return _interval(where, root) or _unchanged(where, root)


def approval(status: str, message: str) -> str:
    """Return an approving reply; the sentences hold nothing JSON would escape."""
    return f'{{"decision": "approve", "status": "{status}", "message": "{message}"}}\n'


def note(line: str) -> str:
    """Return what standard error is told of a reply: that the interval has not elapsed, and nothing else."""
    message = line.partition('"interval_not_elapsed", "message": "')[2].partition('"')[0]
    return f"agent-sync: {message}\n" if message else ""


def flag(raw: bytes, name: bytes) -> bool | None:
    """Return a top-level true or false of a JSON object, False where it is missing, None in any doubt."""
    head, key, rest = raw.partition(b'"' + name + b'"')
    if not key:
        return False
    value = rest.lstrip().removeprefix(b":").lstrip()
    if key in rest or not _is_top_level(head):
        return None
    if value.startswith(b"true"):
        return True
    return False if value.startswith(b"false") else None


def _has_no_tasks(raw: bytes) -> bool:
    _, key, rest = raw.partition(b'"background_tasks"')
    return not key or (key not in rest and rest.lstrip().removeprefix(b":").lstrip().startswith(b"[]"))


def _is_top_level(head: bytes) -> bool:
    """Tell whether what follows `head` is a key of the outermost object."""
    depth, at = 0, 0
    while at < len(head):
        sign = head[at]
        if sign == _QUOTE:
            at = _string_end(head, at + 1)
        elif sign in b"{[":
            depth += 1
        elif sign in b"}]":
            depth -= 1
        at += 1
    return depth == 1


def _string_end(text: bytes, at: int) -> int:
    while at < len(text) and text[at] != _QUOTE:
        at += 2 if text[at] == _BACKSLASH else 1
    return at


def _may_verify(where: Place | None) -> bool:
    if os.environ.get(VERIFY_VARIABLE):
        return True
    return where is not None and "verify_active" in quiet.read_plain(where.settings_file)


def look(where: Place, root: str, log_dir: str) -> str:
    """Return everything the answer depends on."""
    home, xdg = os.environ.get("HOME", ""), os.environ.get("XDG_CONFIG_HOME", "")
    own = os.path.join("agent-gauntlet", "config.yml")
    watched = [
        os.path.join(root, place.GATE_CONFIG),
        os.path.join(home, ".config", own),
        os.path.join(xdg, own),
        where.settings_file,
        log_dir,
        os.path.join(log_dir, place.GATE_STATE),
        os.path.join(log_dir, place.GATE_RUN_LOCK),
    ]
    return quiet.picture([where.root, root, log_dir], PREFIXES, watched, os.environ)


def interval_stamp(where: Place) -> str:
    """Return where the stamp of the interval is; its detail is the log directory."""
    return os.path.join(where.state_dir, place.GATE_INTERVAL_STAMP)


def pass_stamp(where: Place) -> str:
    """Return where the stamp of the last pass is.

    Its details are since when, or that nothing has changed, the log directory and the base.
    """
    return os.path.join(where.state_dir, place.GATE_PASSED_STAMP)


def _interval(where: Place, root: str) -> str | None:
    stamp = quiet.read_stamp(interval_stamp(where))
    left = stamp.seconds_left()
    if len(stamp.details) != 1 or left <= 0 or stamp.seen != look(where, root, stamp.details[0]):
        return None
    return approval("interval_not_elapsed", wording.interval(left))


def whole(where: Place, root: str, log_dir: str, *, base: str) -> str | None:
    """Return everything a remembered pass depends on, as text; None in any doubt."""
    work = unchanged.work(where, root, base)
    return None if work is None else look(where, root, log_dir) + "\0" + work


def _unchanged(where: Place, root: str) -> str | None:
    stamp = quiet.read_stamp(pass_stamp(where))
    if len(stamp.details) != _PASS_DETAILS:
        return None
    at, log_dir, base = stamp.details
    # The cheap half first: git is asked only if everything else is as it was.
    if not stamp.seen.startswith(look(where, root, log_dir) + "\0"):
        return None
    if stamp.seen != whole(where, root, log_dir, base=base):
        return None
    return approval(at, wording.no_changes(base)) if at == NO_CHANGES else approval("passed", wording.unchanged(at))
