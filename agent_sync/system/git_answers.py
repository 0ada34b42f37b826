"""What git would answer, without a process: refs as they lie on disk, and earlier answers that still hold.

In any doubt there is no answer here, and git is asked.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence

from agent_sync.quiet.answer import state_of
from agent_sync.system.processes import FinishedProcess
from agent_sync.system.stamps import SETTLED_S
from agent_sync.worktree import Place

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# Plain names of branches and remotes: no way out of the directory of refs, and nothing that git spells otherwise.
_NAME = re.compile(r"(?:HEAD|refs/(?:heads|remotes|agentsync)(?:/(?!\.)[A-Za-z0-9_.+=@%-]+)+)")
_SYMBOLIC = "ref: "
_LARGEST = 4096
_LARGEST_PACKED = 16 << 20
_MOST_LINKS = 5
# Two commits, who and when; a name and an address between them.
_WORDS_OF_CHANGE = 4


class UnclearRef(Exception):
    """What lies on disk does not say where a ref is."""


def commit_at(place: Place, name: str) -> str | None:
    """Return the commit a ref is at, through those it stands for; None where there is no such ref."""
    for _ in range(_MOST_LINKS):
        found = _read_ref(place, name)
        if not found.startswith(_SYMBOLIC):
            return found or None
        name = found.removeprefix(_SYMBOLIC)
    raise UnclearRef


def target_of(place: Place, name: str) -> str | None:
    """Return the ref that another one stands for; None where it is a commit of its own, or not there."""
    found = _read_ref(place, name)
    return found.removeprefix(_SYMBOLIC) if found.startswith(_SYMBOLIC) else None


def refs_named(place: Place, patterns: Sequence[str]) -> dict[str, str]:
    """Return the refs of some names, each with its commit; `*` in a name stands for any one remote."""
    remotes = _remotes(place) if any("*" in pattern for pattern in patterns) else ()
    names = [name for pattern in patterns for name in _spelled_out(pattern, remotes)]
    return {name: commit for name in names if (commit := commit_at(place, name))}


def refs_below(place: Place, name: str) -> dict[str, str]:
    """Return a ref, or all that lie below a name that is no ref, each with its commit."""
    found = commit_at(place, name)
    if found:
        return {name: found}
    if os.path.lexists(os.path.join(place.common_dir, name)) or f" {name}/" in _packed_text(place):
        # A whole directory is git's to list.
        raise UnclearRef
    return {}


def last_change(place: Place, name: str) -> tuple[str, str] | None:
    """Return the commit after the newest change of a ref, and why it came; None where no changes are noted."""
    _refuse_odd_name(place, name)
    directory = place.git_dir if name == "HEAD" else place.common_dir
    try:
        with open(os.path.join(directory, "logs", name), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LARGEST))
            line = file.read().decode("utf-8", "surrogateescape").rstrip("\n").rpartition("\n")[2]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnclearRef from error
    before, _, reason = line.partition("\t")
    words = before.split(" ")
    if len(words) < _WORDS_OF_CHANGE or not all(map(_SHA.fullmatch, words[:2])):
        raise UnclearRef
    return words[1], reason


def _remotes(place: Place) -> list[str]:
    """Return the remotes of which this clone has refs."""
    prefix = "refs/remotes/"
    lines = _packed_text(place).split(f" {prefix}")[1:]
    packed = {line.partition("/")[0] for line in lines}
    try:
        with os.scandir(os.path.join(place.common_dir, prefix)) as found:
            return sorted(packed | {entry.name for entry in found if entry.is_dir()})
    except FileNotFoundError:
        return sorted(packed)
    except OSError as error:
        raise UnclearRef from error


def _spelled_out(pattern: str, remotes: Sequence[str]) -> list[str]:
    return [pattern.replace("*", remote) for remote in remotes] if "*" in pattern else [pattern]


def _packed_text(place: Place) -> str:
    """Return the lines in which git keeps refs that have no file of their own; there may be very many."""
    return _text(os.path.join(place.common_dir, "packed-refs"), _LARGEST_PACKED)


def _read_ref(place: Place, name: str) -> str:
    """Return the commit of a ref or which ref it stands for; empty where there is none."""
    _refuse_odd_name(place, name)
    directory = place.git_dir if name == "HEAD" else place.common_dir
    # A ref that is packed loses its file only after it has its line.
    loose = _text(os.path.join(directory, name), _LARGEST).rstrip("\n") or _packed(place, name)
    if loose and not loose.startswith(_SYMBOLIC) and not _SHA.fullmatch(loose):
        raise UnclearRef
    return loose


def _refuse_odd_name(place: Place, name: str) -> None:
    """Leave to git what is no plain name, and repositories that keep refs in another way."""
    is_odd = not _NAME.fullmatch(name) or ".." in name or name.endswith(".lock") or "@{" in name
    if is_odd or os.path.lexists(os.path.join(place.common_dir, "reftable")):
        raise UnclearRef


def _packed(place: Place, name: str) -> str:
    before, found, _ = _packed_text(place).partition(f" {name}\n")
    return before.rpartition("\n")[2] if found else ""


def _text(path: str, largest: int) -> str:
    """Return a file's text; nothing where there is no such file."""
    try:
        with open(path, "rb") as file:
            read = file.read(largest)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
    except OSError as error:
        raise UnclearRef from error
    if len(read) == largest or os.path.islink(path):
        raise UnclearRef
    return read.decode("utf-8", "surrogateescape")


# A question about objects alone, named in full, has one answer for ever.
_OBJECT = re.compile(r"\^?[0-9a-f]{40}(?:[0-9a-f]{24})?(?:\^\{(?:tree|commit)\}|:.*)?", re.DOTALL)
_ABOUT_OBJECTS = frozenset({"ls-tree", "cat-file", "merge-base", "rev-list", "rev-parse"})
# What only looks, or stores objects that nothing points to: after anything else nothing but objects is as it was.
_LOOKING = frozenset({
    "cat-file", "check-ignore", "commit-tree", "diff", "diff-files", "diff-tree", "for-each-ref", "hash-object", "log",
    "ls-files", "ls-remote", "ls-tree", "merge-base", "mktree", "reflog", "rev-list", "rev-parse", "show", "status",
    "symbolic-ref", "version",
})  # fmt: skip
_FEW, _SMALL = 20, 1 << 20
_CONFIG_QUESTIONS = (("remote", "-v"), ("config", "--get"))


class GitMemory:
    """What git has answered in this process, each answer with how the files it depends on lay on disk."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, tuple[str, ...]], tuple[str, FinishedProcess]] = {}
        self._objects: dict[tuple[str, ...], bytes] = {}
        self._looks = 0

    def recall(self, place: Place | None, arguments: Sequence[str], programs: int) -> FinishedProcess | None:
        """Return the answer to a question if it still holds; `programs` counts those of others that we have run."""
        if place is None or (place.root, tuple(arguments)) not in self._kept:
            return None
        seen, answer = self._kept[place.root, tuple(arguments)]
        return answer if seen == self._sight(place, arguments, programs) else None

    def keep(self, place: Place | None, arguments: Sequence[str], programs: int, answer: FinishedProcess) -> None:
        """Keep an answer where it can be told how long it holds."""
        sight = self._sight(place, arguments, programs) if place and answer.status == 0 else ""
        if place and sight:
            self._kept[place.root, tuple(arguments)] = (sight, answer)

    def objects(self, root: str, asked: tuple[str, ...], read: Callable[[], bytes]) -> bytes:
        """Return what is read of some objects, once for all where they are few and named in full."""
        key = (root, *asked)
        if key in self._objects:
            return self._objects[key]
        found = read()
        is_kept = len(asked) <= _FEW and len(found) <= _SMALL and all(map(_OBJECT.fullmatch, asked[1:]))
        # What is missing now may come with the next fetch.
        if is_kept and b" missing\n" not in found:
            self._objects[key] = found
        return found

    def forget_after(self, arguments: Sequence[str]) -> None:
        """Forget how the working tree was after an order that may have changed it."""
        if not _only_looks(arguments):
            self._forget_looks()

    @contextlib.contextmanager
    def one_look(self) -> Iterator[None]:
        """Let what is said of the working tree count until the end."""
        self._looks += 1
        try:
            yield
        finally:
            self._looks -= 1
            if not self._looks:
                self._forget_looks()

    def _forget_looks(self) -> None:
        self._kept = {key: kept for key, kept in self._kept.items() if not kept[0].startswith(_LOOK)}

    def _sight(self, place: Place, arguments: Sequence[str], programs: int) -> str:
        """Return what an answer depends on, as text; empty where that is not known, or may change unseen."""
        if self._looks and arguments[0] in _ABOUT_WORKING_TREE:
            return f"{_LOOK}{programs}"
        return _lasting_sight(place, arguments, programs)


_FOR_EVER, _LOOK = "for ever", "look "
_ABOUT_WORKING_TREE = frozenset({"status", "diff"})


def _only_looks(arguments: Sequence[str]) -> bool:
    words = _without_options(arguments)
    return words[0] in _LOOKING or tuple(words[:2]) in {*_CONFIG_QUESTIONS, ("worktree", "list")}


def _without_options(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command without the settings that come before its name."""
    words = list(arguments)
    while words[:1] == ["-c"]:
        words = words[2:]
    return words


def _lasting_sight(place: Place, arguments: Sequence[str], programs: int) -> str:
    if arguments[0] in _ABOUT_OBJECTS:
        asked = [word for word in arguments[1:] if not word.startswith("-") and word != "blob"]
        revisions = asked[:1] if arguments[0] == "ls-tree" else asked
        return _FOR_EVER if revisions and all(map(_OBJECT.fullmatch, revisions)) else ""
    if arguments[0] == "ls-files":
        # With these two it is known which files are tracked.
        files, facts = [f"{place.git_dir}/index"], _head(place)
    elif tuple(arguments[:2]) in _CONFIG_QUESTIONS:
        files, facts = [f"{place.common_dir}/config", f"{place.git_dir}/config.worktree"], "config"
    else:
        return ""
    is_known = facts and _are_settled(files)
    return "\0".join([str(programs), facts, *map(state_of, files)]) if is_known else ""


def _head(place: Place) -> str:
    try:
        return commit_at(place, "HEAD") or ""
    except UnclearRef:
        return ""


def _are_settled(paths: Sequence[str]) -> bool:
    """Tell whether none of these files is so new that its next change might not show."""
    newest = time.time() - SETTLED_S
    return all(os.lstat(path).st_mtime <= newest for path in paths if os.path.lexists(path))
