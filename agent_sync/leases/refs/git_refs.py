"""What git is asked about refs and objects of ours, one function per question; only the transports call them."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from agent_sync.errors import GitFailed
from agent_sync.leases.refs.git_pushes import git_message
from agent_sync.leases.refs.values import (
    Blob,
    FileAt,
    FoundRef,
    NewCommit,
    PastCommit,
    Pushed,
    PushResult,
    RefUpdate,
    TooLarge,
)
from agent_sync.system.git import NETWORK_LIMIT, Git, seconds_of
from agent_sync.system.git_answers import NotLoose, file_at
from agent_sync.system.git_pack import new_objects, store_objects
from agent_sync.worktree import Place

NAME, EMAIL = "agent-sync", "agent-sync@localhost"
# Two processes of one clone that fetch at once get in each other's way; the later one just asks again.
FETCHES = 4
_COLLIDED = 1
_PATIENT = ("-c", "core.filesRefLockTimeout=5000")
_FIELD = "\x1f"
# Git writes a file for every ref that it fetches, and reads each of them in every later fetch and push.
MOST_LOOSE = 1000
# Beyond so many files git is faster than a look at each.
_FEW = 20


def fetch(  # noqa: PLR0913  # one fetch has as many sides
    git: Git,
    address: str,
    specs: Sequence[str],
    *,
    url: str = "",
    limit_s: float = NETWORK_LIMIT,
    is_code: bool = False,
) -> str:
    """Bring the refs of all refspecs up to date in one fetch; return what went wrong, if anything did."""
    options = ["--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-filter"]
    # Claims share no history with the code, and little with each other: telling what is here costs more than it saves.
    lead = [*_PATIENT, *([] if is_code else ["-c", "fetch.negotiationAlgorithm=noop"])]
    command = [*lead, "fetch", *options, "--no-recurse-submodules", "--", address, *specs]
    try:
        done = git.talk(url or address, *command, timeout=limit_s)
        for _ in range(FETCHES - 1):
            if done.status == _COLLIDED:
                done = git.talk(url or address, *command, timeout=limit_s)
    except GitFailed as error:
        return str(error)
    return (git_message(done) or f"git fetch ended with {done.status}") if done.status else ""


def pack_if_many(git: Git, folder: str) -> None:
    """Have git gather its refs in one file where too many below a folder have files of their own."""
    if git.place is None:
        return
    try:
        with os.scandir(Path(git.place.common_dir) / folder) as entries:
            is_many = next(islice(entries, MOST_LOOSE, None), None) is not None
    except OSError:
        return
    if is_many:
        # As `git gc` does; whoever holds the lock does the same, or the next fetch finds them again.
        git.ask("pack-refs", "--all")


def names_there(git: Git, address: str, names: Sequence[str], *, url: str, limit_s: float) -> frozenset[str]:
    """Return which refs of exactly these names a remote has; none where it cannot be asked."""
    try:
        done = git.talk(url, "ls-remote", "--quiet", "--refs", "--", address, *names, timeout=limit_s)
    except GitFailed:
        return frozenset()
    listed = (line.partition("\t")[2] for line in done.stdout.split("\n"))
    return frozenset(listed) & frozenset(names)


def refspecs(name: str, stored: str) -> list[str]:
    """Return what to fetch to have a ref, or all below a name that ends in a slash, under the name `stored`."""
    if name.endswith("/"):
        return [f"+{name}*:{stored}*"]
    # A plain name would make a missing ref an error like any other; a pattern makes it an empty answer.
    longer = [f"^{name}{digit}*" for digit in range(10)]
    return [f"+{name}*:{stored}*", *longer]


def move_together(git: Git, updates: Sequence[RefUpdate]) -> Pushed:
    """Move refs of this clone in one transaction: all of them, or none."""
    lines = [f"option no-deref\n{_order(one)}\n" for one in updates]
    orders = "".join(["start\n", *lines, "prepare\n", "commit\n"])
    done = git.ask(*_PATIENT, "update-ref", "--stdin", stdin=orders)
    return Pushed(PushResult.REJECTED, git_message(done)) if done.status else Pushed(PushResult.LANDED)


def _order(update: RefUpdate) -> str:
    if update.new:
        return f"update {update.ref} {update.new} {update.old or _zeros(update.new)}"
    return f"delete {update.ref} {update.old}"


def note_move(git: Git, update: RefUpdate) -> None:
    """Move a ref of this clone that only says what was seen elsewhere, if it still is what it was."""
    move_together(git, [update])


def list_refs(git: Git, name: str, *, with_kinds: bool = False) -> Iterator[FoundRef]:
    """Return the ref of a name, and all that lie below it."""
    on_disk = git.refs_below(name)
    # What kind of object a ref is at is git's to tell, but of none there is nothing to tell.
    if on_disk is not None and not (with_kinds and on_disk):
        yield from (FoundRef(ref, sha, "ref") for ref, sha in on_disk.items())
        return
    form = "%(refname) %(objecttype) %(objectname)" if with_kinds else "%(refname) ref %(objectname)"
    # Not by lines: a ref's name may hold what Unicode calls the end of one.
    for line in _must(git, "for-each-ref", f"--format={form}", name, attempted="reading refs").split("\n")[:-1]:
        found, kind, sha = line.rsplit(" ", 2)
        yield FoundRef(found, sha, kind)


def read_files(git: Git, files: Sequence[FileAt], *, largest: int) -> list[Blob]:
    """Return the files, with at most two processes however many there are; None for what is not a file."""
    if not files:
        return []
    try:
        if git.place and len(files) <= _FEW:
            return [_loose_blob(git.place, one, largest) for one in files]
    except NotLoose:
        pass
    names = [f"{one.commit}:{one.path}" for one in files]
    sizes = [_size(line) for line in git.sizes(names).split(b"\n")[:-1]]
    if len(sizes) != len(names):
        raise GitFailed("git could not tell the sizes of all files.", attempted="reading refs of ours")
    wanted = [name for name, size in zip(names, sizes, strict=True) if size is not None and size <= largest]
    read = iter(_batch_contents(git.contents(wanted)) if wanted else [])
    try:
        return [_blob(size, read, largest) for size in sizes]
    except (StopIteration, ValueError) as error:
        raise GitFailed("git could not read all files.", attempted="reading refs of ours") from error


def _loose_blob(place: Place, file: FileAt, largest: int) -> Blob:
    content = file_at(place, file.commit, file.path)
    return TooLarge(len(content)) if content is not None and len(content) > largest else content


def _blob(size: int | None, read: Iterator[bytes], largest: int) -> Blob:
    if size is None:
        return None
    return TooLarge(size) if size > largest else next(read)


def _size(line: bytes) -> int | None:
    """Return the size of a file; None for what is not there or is not a file."""
    words = line.split(b" ")
    return int(words[-1]) if words[-2:-1] == [b"blob"] else None


def _batch_contents(batch: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(batch):
        line = batch.index(b"\n", at)
        size, at = int(batch[at:line].split(b" ")[-1]), line + 1
        yield batch[at : at + size]
        at += size + 1


def write_commit(git: Git, commit: NewCommit) -> str:
    """Store a commit and return its sha; no ref moves, and index and checkout stay as they are."""
    objects = new_objects(git, commit.parents)
    signed = f"{NAME} <{EMAIL}> {commit.when} +0000"
    lines = [f"tree {objects.add_tree(commit.files)}", *(f"parent {sha}" for sha in commit.parents)]
    lines += [f"author {signed}", f"committer {signed}", "", commit.message]
    sha = objects.add("commit", "\n".join(lines).encode())
    store_objects(git, objects, attempted="writing a claim")
    return sha


def commit_tree(git: Git, tree: str, commit: NewCommit) -> str:
    """Store a commit of a tree that is there already, under our own name, and return its sha."""
    values = {"NAME": NAME, "EMAIL": EMAIL, "DATE": f"@{commit.when} +0000"}
    identity = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in values.items()}
    parents = [word for sha in commit.parents for word in ("-p", sha)]
    return _store(git, "commit-tree", *parents, tree, stdin=commit.message, variables=identity)


def read_log(git: Git, tips: Sequence[str], *, most: int) -> dict[str, PastCommit]:
    """Return the commits behind some tips by first parents, at most so many of each, by their shas."""
    found = _log(git, tips, most)
    if len(found) < most:
        return found
    # One of them is long, and must not crowd the others out.
    return {sha: commit for tip in tips for sha, commit in _log(git, [tip], most).items()}


def _log(git: Git, tips: Sequence[str], most: int) -> dict[str, PastCommit]:
    # Parted by the one character that no message can hold.
    form = f"--format=%H{_FIELD}%P{_FIELD}%ct{_FIELD}%B"
    options = ["-z", "--first-parent", f"--max-count={most}", form]
    records = _must(git, "log", *options, *tips, "--", attempted="reading histories").split("\0")
    return dict(map(_past_commit, filter(None, records)))


def _past_commit(record: str) -> tuple[str, PastCommit]:
    sha, parents, at, message = record.split(_FIELD, 3)
    return sha, PastCommit(parents.split(" ")[0], datetime.fromtimestamp(seconds_of(at), UTC), message.strip())


def _store(git: Git, *arguments: str, stdin: str, variables: dict[str, str] | None = None) -> str:
    return _must(git, *arguments, stdin=stdin, variables=variables, attempted="writing a claim").strip()


def _must(git: Git, *arguments: str, attempted: str, stdin: str = "", variables: dict[str, str] | None = None) -> str:
    done = git.ask(*arguments, stdin=stdin, variables=variables)
    if done.status:
        raise GitFailed(f"git said: {' '.join(done.stderr.split())[:300]}", attempted=attempted)
    return done.stdout


def _zeros(sha: str) -> str:
    """Return how git writes that a ref must not exist."""
    return "0" * len(sha)
