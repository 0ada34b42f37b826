"""Who we are: the id of a worktree, which nobody else has, and the names people know it by."""

import os
import pwd
import secrets
from pathlib import Path

from agent_sync.errors import BadLease
from agent_sync.lazy_patterns import pattern
from agent_sync.leases.model import Holder
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.worktree import WORKTREE_ID, Place

_ID = pattern(rb"[0-9a-f]{32}")


def fresh_id() -> str:
    """Return 32 random hexadecimal digits."""
    return secrets.token_hex(16)


def known_worktree_id(place: Place) -> str | None:
    """Return the id of a worktree that has one, and make none up."""
    return worktree_id(place) if (Path(place.state_dir) / WORKTREE_ID).exists() else None


def worktree_id(place: Place) -> str:
    """Return the id of a worktree, made up when it is first asked for."""
    path = Path(place.state_dir) / WORKTREE_ID
    found = files.read_own(path)
    if found is None:
        _create(path, fresh_id().encode())
        found = files.read_own(path) or b""
    if not _ID.fullmatch(found):
        raise BadLease(f"{path} does not hold an id.", attempted="telling this worktree from others")
    return found.decode()


def holder_here(place: Place, *, session: str = "", agent: str = "") -> Holder:
    """Return this worktree as the holder of a lease."""
    return Holder(host=os.uname().nodename, user=_user(), worktree=worktree_id(place), session=session, agent=agent)


def _create(path: Path, content: bytes) -> None:
    """Write a file that was not there, whole or not at all; whoever was first stays."""
    files.state_directory(path.parent)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    # The directory follows when the draft is gone again.
    files.write_atomic(draft, content, after_cut=AfterPowerCut.EITHER)
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        files.delete(draft)


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        # In a container the user often has a number only.
        return str(os.geteuid())
