"""Answers the stops that certainly need no run, with `os`, `sys` and `time` alone; in any doubt it has no answer.

A full answer that found the interval not elapsed leaves a stamp: how everything it depended on lay on disk, and until
when it holds. As long as the same look gives the same text, the answer is the same but for the time that remains.
"""

import os
import sys
import time

from agent_sync import __version__, worktree as place
from agent_sync.quiet import answer as quiet, unchanged, wording
from agent_sync.worktree import Place

PREFIXES = ("GAUNTLET_", "AGENT_SYNC_", "HOME", "XDG_CONFIG_HOME", "CLAUDE_PROJECT_DIR")
VERIFY_VARIABLE = "AGENT_SYNC_GATE_VERIFY_ACTIVE"
_QUOTE, _BACKSLASH = 34, 92


def line(raw: bytes) -> str | None:
    """Return the reply to a stop, or None where only the full gate can tell."""
    if quiet.is_nested():
        return said("stop_hook_active", wording.NESTED)
    cwd, is_active = quiet.cwd_in(raw), flag(raw, b"stop_hook_active")
    if cwd is None or is_active is None or not _has_no_tasks(raw):
        return None
    where = place.place_of([cwd, quiet.process_dir()], os.environ.get("CLAUDE_PROJECT_DIR", ""))
    if is_active:
        return None if _may_verify(where) else said("stop_hook_active", wording.ACTIVE)
    root = place.gate_root(cwd, where.root) if where else None
    if where is None or root is None:
        return said("no_config", wording.NO_CONFIG)
    return _interval(where, root) or _unchanged(where, root)


def said(status: str, message: str) -> str:
    """Return an approving reply; the sentences hold nothing JSON would escape."""
    return f'{{"decision": "approve", "status": "{status}", "message": "{message}"}}\n'


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


def stamp_file(where: Place) -> str:
    """Return where the stamp lives."""
    return os.path.join(where.state_dir, "gauntlet-quick")


def look(where: Place, root: str, log_dir: str) -> str:
    """Return everything the answer depends on, as text: what lies on disk and what the environment says."""
    lines = [__version__, sys.version, where.root, root, log_dir]
    lines += sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(PREFIXES))
    home, xdg = os.environ.get("HOME", ""), os.environ.get("XDG_CONFIG_HOME", "")
    own = os.path.join("agent-gauntlet", "config.yml")
    watched = [
        os.path.join(root, place.GATE_CONFIG),
        os.path.join(home, ".config", own),
        os.path.join(xdg, own),
        where.settings_file,
        log_dir,
        os.path.join(log_dir, ".execution_state"),
        os.path.join(log_dir, ".gauntlet-run.lock"),
    ]
    lines += [f"{path} {quiet.state_of(path)}" for path in watched]
    return "\0".join(lines)


def _interval(where: Place, root: str) -> str | None:
    due, _, rest = _read(stamp_file(where)).partition("\n")
    log_dir, _, seen = rest.partition("\n")
    try:
        left = float(due) - time.time()
    except ValueError:
        return None
    if left <= 0 or seen != look(where, root, log_dir):
        return None
    return said("interval_not_elapsed", wording.interval(left))


def pass_file(where: Place) -> str:
    """Return where the stamp of the last pass lives."""
    return os.path.join(where.state_dir, "gauntlet-passed")


def whole(where: Place, root: str, log_dir: str, *, base: str) -> str | None:
    """Return everything a remembered pass depends on, as text; None in any doubt."""
    work = unchanged.work(where, root, base)
    return None if work is None else look(where, root, log_dir) + "\0" + work


def _unchanged(where: Place, root: str) -> str | None:
    at, _, rest = _read(pass_file(where)).partition("\n")
    log_dir, _, rest = rest.partition("\n")
    base, _, seen = rest.partition("\n")
    # The cheap half first: git is asked only if everything else is as it was.
    if (
        not seen
        or not seen.startswith(look(where, root, log_dir) + "\0")
        or seen != whole(where, root, log_dir, base=base)
    ):
        return None
    return said("passed", wording.unchanged(at))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""
