"""Keeps the claim file out of commits: one marked line in `info/exclude`, which all worktrees of a clone share."""

import re
import stat
from pathlib import Path

from agent_sync.errors import LockHeld
from agent_sync.lazy_patterns import pattern
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.worktree import CLAIM_NAME, Place

MARK = b"# agent-sync: claims are never committed"
LINE = f"/{CLAIM_NAME}*".encode()
# `init` and `uninstall` write under the same lock.
LOCK_NAME = "install.lock"
LOCK_WAIT = 5.0
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OURS = pattern(rb"^(%b)?%b\r?\n%b\r?(?:\n|\Z)" % (_BYTE_ORDER_MARK, re.escape(MARK), re.escape(LINE)), re.MULTILINE)
# A pattern that takes in again what others leave out.
_TAKES_IN = pattern(rb"^\s*!", re.MULTILINE)


def keep_out(place: Place) -> str:
    """Write the line unless it is there; return why that was not possible, which is no reason to stop."""
    try:
        with files.locked(Path(place.shared_dir) / LOCK_NAME, wait=LOCK_WAIT, doing="keeping the claim out") as token:
            file = _exclude(place)
            files.sweep_temporaries(token, file)
            found = files.read_own(file) or b""
            if with_line(found) != found:
                file.parent.mkdir(exist_ok=True)
                mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o644
                files.write_atomic(file, with_line(found), mode=mode, after_cut=AfterPowerCut.EITHER)
    except (files.NotPlain, LockHeld, OSError) as reason:
        return f"info/exclude was not written: {reason}"
    return ""


def is_kept_out(place: Place) -> bool:
    """Tell whether git certainly passes the claim file over; where a pattern may take it in again only git can tell."""
    try:
        own, others = (files.read_plain(path) or b"" for path in (_exclude(place), Path(place.root) / ".gitignore"))
    except files.NotPlain:
        return False
    return with_line(own) == own and not _TAKES_IN.search(own + b"\n" + others)


def _exclude(place: Place) -> Path:
    return Path(place.common_dir) / "info" / "exclude"


def with_line(content: bytes) -> bytes:
    """Return the file's bytes with our line; it goes first, so that lines of the user's below it have more weight."""
    if LINE in (line.strip() for line in content.splitlines()):
        return content
    start = len(_BYTE_ORDER_MARK) if content.startswith(_BYTE_ORDER_MARK) else 0
    return content[:start] + MARK + b"\n" + LINE + b"\n" + content[start:]


def without_line(content: bytes) -> bytes:
    """Return the file's bytes without our line, told from one of the user's by the mark above it."""
    return _OURS.sub(rb"\1", content)
