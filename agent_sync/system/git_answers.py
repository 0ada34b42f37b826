"""What git would answer, without a process: refs, worktrees, and objects that have files of their own.

In any doubt there is no answer here, and git is asked: an object may be in a pack or in another repository.
"""

import hashlib
import os
import stat
import zlib
from collections.abc import Iterator, Sequence

from agent_sync.lazy_patterns import pattern
from agent_sync.worktree import Place

_SHA = pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# Plain names of branches and remotes: no way out of the directory of refs, and nothing that git spells otherwise.
_NAME = pattern(r"(?:HEAD|refs/(?:heads|remotes|agentsync)(?:/(?!\.)[A-Za-z0-9_.+=@%-]+)+)")
_SYMBOLIC = "ref: "
_LARGEST = 4096
_LARGEST_PACKED = 16 << 20
_MOST_LINKS = 5
# Beyond so many files in a directory one process of git is faster.
_MOST_FILES = 500
_LOCK = ".lock"
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
    # A ref that is packed loses its file only after it has its line: files first.
    loose = {ref: _commit_in_file(place, ref) for ref in _files_below(place, name)}
    packed = dict(_packed_below(place, name))
    together = packed | loose
    return {ref: together[ref] for ref in sorted(together)}


def has_replacements(place: Place) -> bool:
    """Tell whether other objects may have been put in the place of some, so that a name does not say what is read."""
    prefix = "refs/replace"
    if os.path.lexists(os.path.join(place.common_dir, prefix)) or os.path.lexists(_reftable(place)):
        return True
    try:
        return f" {prefix}/" in _packed_text(place)
    except UnclearRef:
        return True


def only_root(place: Place) -> str | None:
    """Return the root of the only worktree of a clone; None where there are others, or only git can tell."""
    is_plain = place.git_dir == place.common_dir == os.path.join(place.root, ".git")
    return place.root if is_plain and not os.path.lexists(os.path.join(place.common_dir, "worktrees")) else None


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


def _files_below(place: Place, name: str) -> Iterator[str]:
    """Yield the names of the refs below a name that have a file of their own."""
    try:
        with os.scandir(os.path.join(place.common_dir, name)) as found:
            entries = list(found)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise UnclearRef from error
    if len(entries) > _MOST_FILES:
        raise UnclearRef
    for entry in entries:
        ref = f"{name}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _files_below(place, ref)
        elif not entry.name.endswith(_LOCK):
            yield ref


def _commit_in_file(place: Place, name: str) -> str:
    _refuse_odd_name(place, name)
    found = _text(os.path.join(place.common_dir, name), _LARGEST).rstrip("\n")
    if not _SHA.fullmatch(found):
        # It stands for another, or was deleted just now.
        raise UnclearRef
    return found


def _packed_below(place: Place, name: str) -> Iterator[tuple[str, str]]:
    text = _packed_text(place)
    for line in text.splitlines() if f" {name}/" in text else ():
        commit, _, ref = line.partition(" ")
        if ref.startswith(f"{name}/"):
            _refuse_odd_name(place, ref)
            yield ref, commit


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
    is_odd = not _NAME.fullmatch(name) or ".." in name or name.endswith(_LOCK) or "@{" in name
    if is_odd or os.path.lexists(_reftable(place)):
        raise UnclearRef


def _reftable(place: Place) -> str:
    """Return where a repository keeps its refs that does not keep them as files."""
    return os.path.join(place.common_dir, "reftable")


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


_SHA256_LENGTH = 64
_LARGEST_OBJECT = 1 << 20
_TREE = "tree"


class NotLoose(Exception):
    """What was asked for is not in a file of its own here, or not in one that is clear."""


def tree_of(place: Place, commit: str) -> str:
    """Return the tree of a commit."""
    if has_replacements(place):
        raise NotLoose
    kind, _, tree = _read(place, commit, "commit").partition(b"\n")[0].decode("ascii", "replace").partition(" ")
    if kind != _TREE or not _SHA.fullmatch(tree):
        raise NotLoose
    return tree


def file_at(place: Place, commit: str, path: str) -> bytes | None:
    """Return a file of a commit; None where the commit has no such file."""
    *folders, name = path.split("/")
    tree = tree_of(place, commit)
    for folder in folders:
        mode, tree = _entry(place, tree, folder)
        if not stat.S_ISDIR(mode):
            return None
    mode, found = _entry(place, tree, name)
    return _read(place, found, "blob") if stat.S_ISREG(mode) or stat.S_ISLNK(mode) else None


def _entry(place: Place, tree: str, name: str) -> tuple[int, str]:
    """Return mode and object of an entry of a tree; no mode where there is none."""
    content = _read(place, tree, _TREE)
    try:
        found = (entry for entry in _entries(content, len(tree) // 2) if entry[1] == os.fsencode(name))
        mode, _, sha = next(found, (0, b"", ""))
    except ValueError as error:
        # Nobody checks what others have pushed.
        raise NotLoose from error
    return mode, sha


def _entries(content: bytes, length: int) -> Iterator[tuple[int, bytes, str]]:
    at = 0
    while at < len(content):
        end = content.index(b"\0", at)
        mode, _, name = content[at:end].partition(b" ")
        at = end + 1 + length
        yield int(mode, 8), name, content[end + 1 : at].hex()


def _read(place: Place, name: str, kind: str) -> bytes:
    """Return the bytes of an object whose file is whole and of a kind."""
    if not _SHA.fullmatch(name):
        raise NotLoose
    try:
        with open(object_file(place, name), "rb") as file:
            unpacked = zlib.decompressobj()
            found = unpacked.decompress(file.read(_LARGEST_OBJECT), _LARGEST_OBJECT)
    except (OSError, zlib.error) as error:
        raise NotLoose from error
    algorithm = "sha256" if len(name) == _SHA256_LENGTH else "sha1"
    head, _, content = found.partition(b"\0")
    is_whole = unpacked.eof and hashlib.new(algorithm, found, usedforsecurity=False).hexdigest() == name
    if not is_whole or head != f"{kind} {len(content)}".encode():
        raise NotLoose
    return content


def object_file(place: Place, name: str) -> str:
    """Return where an object is that has a file of its own."""
    return os.path.join(place.common_dir, "objects", name[:2], name[2:])
