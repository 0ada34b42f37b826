"""Who we are: the id of a worktree, also of one that is still to be made, and the names people know it by."""

import json
import os
import pwd
import secrets
from pathlib import Path
from typing import NamedTuple

from agent_sync.errors import BadLease
from agent_sync.lazy_patterns import pattern
from agent_sync.leases.model import Holder
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.worktree import NEW_WORKTREES, WORKTREE_ID, Place

_ID = pattern(rb"[0-9a-f]{32}")


class Home(NamedTuple):
    """A worktree that holds a lease: its id and its root, both known before it is made."""

    id: str
    root: str


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


def home_here(place: Place) -> Home:
    """Return a worktree that is there."""
    return Home(worktree_id(place), place.root)


def reserve(place: Place, issue: int, root: str) -> Home:
    """Decide the id of the worktree that will be made for an issue, on disk before its lease is asked for."""
    home = Home(fresh_id(), root)
    path = _reservation(place, issue)
    files.state_directory(path.parent)
    files.write_atomic(path, json.dumps(home._asdict()).encode(), mode=0o600)
    return home


def reserved(place: Place, issue: int) -> Home | None:
    """Return the worktree that an earlier claim of an issue was about to make; one that cannot be read is none."""
    try:
        values = json.loads(files.read_own(_reservation(place, issue)) or b"null")
        home = Home(str(values["id"]), str(values["root"]))
    except (files.NotPlain, ValueError, TypeError, KeyError, RecursionError):
        return None
    return home if _ID.fullmatch(home.id.encode(errors="replace")) else None


def reservations(place: Place) -> dict[int, Home]:
    """Return the worktrees that claims of this clone were about to make, by issue."""
    names = (path.stem for path in (Path(place.shared_dir) / NEW_WORKTREES).glob("*.json"))
    found = {int(name): reserved(place, int(name)) for name in names if name.isascii() and name.isdigit()}
    return {issue: home for issue, home in found.items() if home}


def drop_reservation(place: Place, issue: int) -> None:
    """Forget the worktree that was to be made for an issue: it is made, or will not be."""
    path = _reservation(place, issue)
    if path.exists():
        files.delete(path, after_cut=AfterPowerCut.EITHER)


def move_in(home: Home, place: Place) -> None:
    """Give a new worktree the id that was decided for it."""
    path = files.state_directory(Path(place.state_dir)) / WORKTREE_ID
    files.write_atomic(path, home.id.encode())


def _reservation(place: Place, issue: int) -> Path:
    return Path(place.shared_dir) / NEW_WORKTREES / f"{issue}.json"


def holder_at(home: Home, *, session: str = "", agent: str = "") -> Holder:
    """Return a worktree as the holder of a lease."""
    host, user = holder_machine()
    directory = Path(home.root).name
    return Holder(host=host, user=user, worktree=home.id, session=session, agent=agent, directory=directory)


def holder_machine() -> tuple[str, str]:
    """Return the machine and the user that leases name."""
    return os.uname().nodename, _user()


def holder_here(place: Place, *, session: str = "", agent: str = "") -> Holder:
    """Return this worktree as the holder of a lease."""
    return holder_at(home_here(place), session=session, agent=agent)


def _create(path: Path, content: bytes) -> None:
    """Write a file that was not there, whole or not at all; the first one stays."""
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
