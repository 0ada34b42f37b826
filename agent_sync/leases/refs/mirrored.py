"""Brings objects that were read or stored through GitHub's interface into this clone, byte for byte the same."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from agent_sync.errors import GitFailed, NotFound
from agent_sync.gateway.port import Gateway
from agent_sync.gateway.ref_values import ApiCommit, Signature, TreeEntry
from agent_sync.leases.refs.git_objects import has_object, store_object, store_tree
from agent_sync.system.git import Git

# A claim is one file, a work hook has a dozen; whatever is larger is not ours.
MOST_ENTRIES = 200
LARGEST_BLOB = 1024 * 1024
# One commit for each holder of an issue: far more than anybody's history.
MOST_COMMITS = 2000


def mirror_history(git: Git, api: Gateway, sha: str) -> None:
    """Bring a commit and every commit behind it into this clone."""
    waiting, missing = [sha], 0
    while waiting:
        commit = waiting.pop()
        if has_object(git, commit, "commit"):
            continue
        missing += 1
        if missing > MOST_COMMITS:
            raise GitFailed(f"The history of {sha} is too long to be read.", attempted="reading a claim")
        try:
            found = api.read_commit(commit)
        except NotFound:
            # Somebody put a file where a claim should be: it is brought here as it is, and read as no claim.
            _store_blob(git, api.read_blob(commit))
            continue
        mirror_commit(git, api, found)
        waiting.extend(found.parents)


def mirror_commit(git: Git, api: Gateway, commit: ApiCommit) -> None:
    """Bring one commit with its files into this clone."""
    if not has_object(git, commit.tree, "tree"):
        _mirror_tree(git, api, commit.tree)
    store_commit(git, commit)


def store_commit(git: Git, commit: ApiCommit) -> None:
    """Store a commit's own bytes; one that does not come out the same is of a kind that cannot be rebuilt."""
    # GitHub may show a message without the newline that ends it.
    for message in (commit.message, f"{commit.message}\n"):
        if store_object(git, "commit", _commit_text(commit, message)) == commit.sha:
            return
    raise GitFailed(f"Commit {commit.sha} cannot be rebuilt from what GitHub shows.", attempted="reading a claim")


def seconds_of(date: str) -> int:
    """Return a time of the interface in seconds since the epoch."""
    return int(datetime.fromisoformat(date).timestamp())


def _commit_text(commit: ApiCommit, message: str) -> str:
    parents = "".join(f"parent {sha}\n" for sha in commit.parents)
    author, committer = _signature_text(commit.author), _signature_text(commit.committer)
    return f"tree {commit.tree}\n{parents}author {author}\ncommitter {committer}\n\n{message}"


def _signature_text(signature: Signature) -> str:
    return f"{signature.name} <{signature.email}> {seconds_of(signature.date)} +0000"


def _mirror_tree(git: Git, api: Gateway, tree: str) -> None:
    entries = api.read_tree(tree)
    if len(entries) > MOST_ENTRIES:
        raise GitFailed(f"Tree {tree} is too large for a claim.", attempted="reading a claim")
    for entry in entries:
        if entry.kind == "blob" and entry.size <= LARGEST_BLOB:
            _store_blob(git, api.read_blob(entry.sha))
    folders = sorted((entry.path for entry in entries if entry.kind == "tree"), key=len, reverse=True)
    for folder in (*folders, ""):
        store_tree(git, "".join(_lines(entries, folder)))


def _store_blob(git: Git, content: bytes) -> None:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        # Nothing of ours: a file that is missing here is read as no file.
        return
    store_object(git, "blob", text)


def _lines(entries: Sequence[TreeEntry], folder: str) -> Iterator[str]:
    for entry in entries:
        above, _, name = entry.path.rpartition("/")
        if above == folder:
            yield f"{entry.mode} {entry.kind} {entry.sha}\t{name}\n"
