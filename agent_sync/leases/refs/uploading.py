"""Stores files of this clone at GitHub where git may not push them: only what differs from a commit that is there."""

from collections.abc import Iterator, Sequence

from agent_sync.errors import GitFailed
from agent_sync.gateway.port import Gateway
from agent_sync.gateway.ref_values import TreeEntry
from agent_sync.leases.refs.git_refs import read_files
from agent_sync.leases.refs.values import FileAt
from agent_sync.system.git import Git
from agent_sync.system.git_tree import difference, empty_tree, tree_of

# Each file is a request of its own, and the interface allows some eighty writes a minute.
MOST_FILES = 100
MOST_BYTES = 10 * 1024 * 1024
_FILES = frozenset({"100644", "100755", "120000"})
_DELETED = "0" * 6
_ATTEMPTED = "saving what is not committed through GitHub's interface"


def upload_tree(git: Git, api: Gateway, tree: str, base: str) -> None:
    """Store a tree of this clone; `base` is a commit that GitHub has, or nothing."""
    before = tree_of(git, base) if base else ""
    entries = tuple(_changes(git, before or empty_tree(git), tree))
    if not entries:
        return
    files = [entry for entry in entries if entry.sha and entry.mode in _FILES]
    for entry, content in zip(files, _contents(git, tree, files), strict=True):
        if api.store_blob(content) != entry.sha:
            raise _other(entry.path)
    if api.store_tree_from(before, entries) != tree:
        raise _other("the folder")


def _contents(git: Git, tree: str, files: Sequence[TreeEntry]) -> list[bytes]:
    """Return the files' bytes; stop where they are more than the interface should carry."""
    if len(files) > MOST_FILES:
        raise _too_much(f"{len(files)} files")
    read = read_files(git, [FileAt(tree, entry.path) for entry in files], largest=MOST_BYTES)
    found = [content for content in read if isinstance(content, bytes)]
    if len(found) < len(files) or sum(map(len, found)) > MOST_BYTES:
        raise _too_much(f"more than {MOST_BYTES // 1024**2} MB, or a name that cannot be sent")
    return found


def _changes(git: Git, before: str, after: str) -> Iterator[TreeEntry]:
    parts = iter(difference(git, before, after, "--raw", "--no-abbrev", "-z", below="", variables={}).split("\0"))
    for line in parts:
        if line:
            _, mode, _, sha, _ = line.split(" ")
            is_deleted = mode == _DELETED
            kind = "commit" if mode == "160000" else "blob"
            yield TreeEntry(next(parts), "100644" if is_deleted else mode, kind, "" if is_deleted else sha)


def _too_much(what: str) -> GitFailed:
    message = f"Git may push only the branch here, and {what} that the branch does not have on GitHub are too much."
    return GitFailed(
        message, attempted=_ATTEMPTED, helps="git add and git commit the files, then agent-sync worker pause"
    )


def _other(what: str) -> GitFailed:
    return GitFailed(f"GitHub stored {what} otherwise than it is here.", attempted=_ATTEMPTED, helps="git commit it")
