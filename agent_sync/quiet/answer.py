"""Answers "is there certainly nothing to do?" by comparing the last stamp; knows no rule, imports `os` and `sys`.

A full run that found nothing to do leaves a stamp: how everything it looked at was on disk, and when the next thing
falls due. As long as the same look gives the same text, there is nothing to do. Any difference, any doubt, means the
full run.
"""

import os
import sys
import time

from agent_sync import __version__, worktree as place
from agent_sync.worktree import Place

# The type checker knows this name without the module `typing`, which would have to be loaded.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NESTED = ("AGENT_SYNC_NESTED", "GAUNTLET_STOP_HOOK_ACTIVE")
# The file type in a mode, and those of links and plain files: `stat` has them too, and would have to be loaded.
S_IFMT, S_IFLNK, S_IFREG = 0o170000, 0o120000, 0o100000
LARGEST_FILE = 1 << 20
SETTING_PREFIXES = ("AGENT_SYNC_", "MOLTNET_", "XDG_CONFIG_HOME", "HOME")
NEVER = "never"
# How long a writer is waited for that says nothing or half an object: well below the client's own limits.
SILENCE = 5.0
PATIENCE = 1.0
# More is no input of a hook.
LARGEST = 32 << 20
_PIPE_ROOM = 65536
# The client writes when the process has started; a busy machine may take a moment.
_MOMENT, _PAUSE = 0.25, 0.001


def is_nested() -> bool:
    """Tell whether this certainly runs inside an agent that a gate has started: then every hook is silent.

    A checkout's own settings could set the marker to switch the gates off; then only the full run can tell.
    """
    return has_marker(os.environ) and not is_named_by_checkout(NESTED)


def has_marker(environment: "Mapping[str, str]") -> bool:
    """Tell whether the variables name an agent that a gate has started."""
    return any(environment.get(name) for name in NESTED)


def is_named_by_checkout(variables: "tuple[str, ...]") -> bool:
    """Tell whether a settings file of the checkout may have set one of these; an escaped name counts as one."""
    roots = checkout_roots(os.environ.get("CLAUDE_PROJECT_DIR", ""))
    for path in (os.path.join(root, name) for root in roots for name in place.CLAUDE_SETTINGS):
        text = read_plain(path, may_be_link=True)
        if "\\u" in text or any(name in text for name in variables):
            return True
    return False


def checkout_roots(project: str) -> "list[str]":
    """Return where the settings files of the checkout may be: the client's project, and the worktree with its clone."""
    where = place.worktree(process_dir())
    found = [project, where.root if where else "", os.path.dirname(where.common_dir) if where else ""]
    return [root for root in found if root]


class Stamp:
    """What a full run leaves where the next event may be answered without one.

    Until when it holds, what the answer needs, and how everything it depends on was found (`picture`).
    """

    __slots__ = ("details", "due", "seen")

    def __init__(self, due: str, details: "tuple[str, ...]", seen: str) -> None:
        self.due = due
        self.details = details
        self.seen = seen

    def text(self) -> str:
        """Return the stamp as its file has it."""
        return "\n".join((self.due, "\0".join(self.details), self.seen))

    def seconds_left(self) -> float:
        """Return how long it holds; a moment that cannot be read has come."""
        if self.due == NEVER:
            return float("inf")
        try:
            return float(self.due) - time.time()
        except ValueError:
            return 0.0


def parse_stamp(text: str) -> Stamp:
    """Return the stamp a text is; one that has seen nothing holds for nothing."""
    due, _, rest = text.partition("\n")
    details, _, seen = rest.partition("\n")
    return Stamp(due, tuple(details.split("\0")) if details else (), seen)


def read_stamp(path: str) -> Stamp:
    """Return the stamp that a full run has left."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return parse_stamp(file.read())
    except OSError:
        return parse_stamp("")


def picture(
    facts: "list[str]", prefixes: "tuple[str, ...]", paths: "list[str]", environment: "Mapping[str, str]"
) -> str:
    """Return everything an answer depends on, as text: facts, variables by their prefix, and the stats of files."""
    variables = sorted(f"{name}={value}" for name, value in environment.items() if name.startswith(prefixes))
    return "\0".join([__version__, sys.version, *facts, *variables, *(f"{path} {state_of(path)}" for path in paths)])


def nothing_to_do(hook: str, raw: bytes) -> bool:
    """Tell whether `hook`, given `raw` on standard input, would certainly do and say nothing."""
    cwd = cwd_in(raw)
    if cwd is None:
        return False
    where = place.place_of([cwd, process_dir()], os.environ.get("CLAUDE_PROJECT_DIR", ""))
    if where is None:
        return not os.path.lexists(place.CLAIM_NAME)
    session = session_in(raw)
    return (
        session is not None
        and _is_quiet_at(where, hook)
        and all(_is_quiet_at(other, hook) for other in place.other_places(where, session))
    )


def _is_quiet_at(where: Place, hook: str) -> bool:
    """Tell whether the stamp of a worktree still holds."""
    stamp = read_stamp(place.hook_stamp(where, hook))
    holds = bool(stamp.seen) and stamp.seconds_left() > 0
    return holds and stamp.seen == look(where, hook) and _is_unchanged("\0".join(stamp.details))


def gate_root(raw: bytes) -> str | None:
    """Return the directory whose gates a stop is about."""
    cwd = cwd_in(raw) or ""
    where = place.place_of([cwd, process_dir()], os.environ.get("CLAUDE_PROJECT_DIR", ""))
    return place.gate_root(cwd, where.root) if where else None


def process_dir() -> str:
    """Return the process's directory, or "" where it has been deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def read_stdin(patience: float = SILENCE) -> bytes:
    """Read the hook's input to its end, or for so long; a terminal has none to give, and too much is as good as none.

    A writer that keeps the pipe open after one whole object is not waited for.
    """
    try:
        if os.isatty(0):
            return b"{}"
        first = _first_piece()
        if first == b"" or (first and len(first) < _PIPE_ROOM and first.rstrip().endswith(b"}")):
            return first
        whole = (first or b"") + _wait_for_input(patience)
    except OSError:
        return b""
    return whole if len(whole) <= LARGEST else b""


def rest_of_stdin() -> bytes:
    """Return what comes after a first piece that only looked complete; a silent writer is not waited for long."""
    try:
        return _wait_for_input(PATIENCE)
    except (OSError, ValueError):
        return b""


def _first_piece() -> bytes | None:
    """Return the first piece if it is there or comes in a moment, which spares the loading of `select`; else None."""
    give_up = time.monotonic() + _MOMENT
    while (first := _read_now()) is None and time.monotonic() < give_up:
        time.sleep(_PAUSE)
    return first


def _read_now() -> bytes | None:
    """Return what is there now; None where it must be waited for."""
    was_blocking = os.get_blocking(0)
    os.set_blocking(0, False)
    try:
        return os.read(0, _PIPE_ROOM)
    except BlockingIOError:
        return None
    finally:
        os.set_blocking(0, was_blocking)


def _wait_for_input(patience: float) -> bytes:
    """Return what comes in until the writer ends, falls silent for too long in all, or has sent too much."""
    import select

    give_up = time.monotonic() + patience
    chunks: list[bytes] = []
    size = 0
    while size <= LARGEST and select.select([0], [], [], max(0.0, give_up - time.monotonic()))[0]:
        chunk = os.read(0, _PIPE_ROOM)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)


def cwd_in(raw: bytes) -> str | None:
    """Return the input's `cwd`, "" if it names none, or None where only a JSON parser could tell."""
    text = raw.strip()
    if not (text.startswith(b"{") and text.endswith(b"}")):
        return None
    head, key, rest = text.partition(b'"cwd"')
    if not key:
        return "" if text == b"{}" else None
    colon, quote, value = rest.partition(b'"')
    path, end, _ = value.partition(b'"')
    plain = colon.strip() == b":" and quote and end and b"\\" not in path and b"\0" not in path
    unique = b"{" not in head[1:] and key not in rest
    return os.fsdecode(path) if plain and unique else None


def session_in(raw: bytes) -> str | None:
    """Return the input's `session_id`, "" if it names none, or None where only a JSON parser could tell."""
    _, key, rest = raw.partition(b'"session_id"')
    if not key:
        return ""
    colon, quote, value = rest.partition(b'"')
    session, end, _ = value.partition(b'"')
    is_plain = colon.strip() == b":" and quote and end and b"\\" not in session and key not in rest
    return session.decode("utf-8", "replace") if is_plain else None


def look(where: Place, hook: str) -> str:
    """Return everything a decision of `hook` depends on."""
    facts = [hook, where.root, os.environ.get("CLAUDE_PROJECT_DIR", "")]
    return picture(facts, SETTING_PREFIXES, watched(where), os.environ)


def watched(where: Place) -> list[str]:
    """List the files whose change can give a hook something to do."""
    return [
        where.claim_file,
        where.settings_file,
        place.trust_file(where),
        place.user_settings_file(os.environ.get("XDG_CONFIG_HOME", ""), os.environ.get("HOME", "")),
        *(os.path.join(where.root, name) for name in place.CLAUDE_SETTINGS),
        os.path.join(where.common_dir, "config"),
        os.path.join(where.git_dir, "config.worktree"),
        os.path.join(where.git_dir, "HEAD"),
        os.path.join(where.git_dir, "logs", "HEAD"),
        os.path.join(where.state_dir, place.OUTBOX_FILE),
        place.record_pointer(where),
        os.path.join(where.state_dir, place.WORKER_FILE),
    ]


def sight_of(paths: list[str]) -> str:
    """Return the stats of these files, as the line of a stamp."""
    return "\0".join(part for path in paths for part in (path, state_of(path)))


def _is_unchanged(sight: str) -> bool:
    """Tell whether the files a stamp names still lie as they did."""
    parts = sight.split("\0") if sight else []
    return len(parts) % 2 == 0 and sight == sight_of(parts[::2])


def state_of(path: str) -> str:
    """Return what tells one version of a file from another without opening it."""
    try:
        found = os.lstat(path)
        # What a link leads to can change without the link.
        behind = os.stat(path) if found.st_mode & S_IFMT == S_IFLNK else found
    except OSError:
        return "-"
    own = "" if behind is found else f" {found.st_mtime_ns} {found.st_ino}"
    return f"{behind.st_size} {behind.st_mtime_ns} {behind.st_ctime_ns} {behind.st_ino}{own}"


def read_plain(path: str, *, may_be_link: bool = False) -> str:
    """Return the beginning of a plain file that a checkout may have brought; "" where there is none."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if may_be_link else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return ""
    try:
        is_plain = os.fstat(descriptor).st_mode & S_IFMT == S_IFREG
        return os.read(descriptor, LARGEST_FILE).decode("utf-8", "replace") if is_plain else ""
    except OSError:
        return ""
    finally:
        os.close(descriptor)
