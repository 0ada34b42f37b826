"""Claim commits, written and read with plumbing: no index, no checkout, no identity of the user's."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agent_sync.errors import BadLease, GitFailed, LeaseTooNew
from agent_sync.git import Git
from agent_sync.leases.model import FILE_NAME, Lease, Tip, Where, parse
from agent_sync.leases.results import Doubt, Unknown, Unreadable

_NAME, _EMAIL = "agent-sync", "agent-sync@localhost"


@dataclass(frozen=True)
class _Ref:
    issue: int
    sha: str


def write_commit(git: Git, lease: Lease, parent: str) -> str:
    """Store a lease as a commit and return its sha; no ref moves."""
    blob = stored(git, "hash-object", "-w", "--stdin", stdin=lease.to_json().decode())
    tree = stored(git, "mktree", stdin=f"100644 blob {blob}\t{FILE_NAME}\n")
    message = f"Claim #{lease.issue}: {lease.state}, epoch {lease.epoch}\n"
    return committed(git, tree, message, parent, int(lease.renewed_at.timestamp()))


def write_scratch(git: Git, message: str) -> str:
    """Store an empty commit that stands for nothing, to try a remote with."""
    return committed(git, stored(git, "mktree", stdin=""), message, "", 0)


def tips_below(git: Git, prefix: str, where: Where) -> tuple[Tip | Unreadable, ...]:
    """Read every claim whose ref is `prefix` or lies below it, with two processes however many there are."""
    refs = tuple(_refs(git, prefix))
    if not refs:
        return ()
    found = answers(git.contents([f"{ref.sha}:{FILE_NAME}" for ref in refs]))
    return tuple(_judged(ref, content, where) for ref, content in zip(refs, found, strict=True))


def seen_at(git: Git, ref: str, where: Where) -> Tip | Unknown | None:
    """Read the claim at one ref of this repository; None where there is no such ref."""
    for found in tips_below(git, ref, where):
        return found.unknown if isinstance(found, Unreadable) else found
    return None


def _refs(git: Git, prefix: str) -> Iterator[_Ref]:
    listed = git.ask("for-each-ref", "--format=%(refname) %(objectname)", prefix)
    if listed.status:
        reason = " ".join(listed.stderr.split())[:300]
        raise GitFailed(f"git said: {reason}", attempted="reading the claim refs")
    for line in listed.stdout.splitlines():
        name, sha = line.split(" ")
        folder, _, number = name.rpartition("/")
        # Whoever names a ref otherwise does not speak of an issue.
        if folder == prefix.rpartition("/")[0] and number.isascii() and number.isdecimal() and number[0] != "0":
            yield _Ref(int(number), sha)


def answers(batch: bytes) -> Iterator[bytes | None]:
    """Part what `cat-file --batch` wrote; None for what is not there or is no file."""
    at = 0
    while at < len(batch):
        line = batch.index(b"\n", at)
        words = batch[at:line].split(b" ")
        at = line + 1
        if words[-1] in {b"missing", b"ambiguous"}:
            yield None
            continue
        size = int(words[-1])
        yield batch[at : at + size] if words[-2] == b"blob" else None
        at += size + 1


def _judged(ref: _Ref, content: bytes | None, where: Where) -> Tip | Unreadable:
    if content is None:
        reason = f"The claim of #{ref.issue} has no {FILE_NAME}."
        return Unreadable(ref.issue, ref.sha, Unknown(Doubt.UNREADABLE, reason))
    try:
        return Tip(ref.sha, parse(content, issue=ref.issue), where)
    except LeaseTooNew as error:
        return Unreadable(ref.issue, ref.sha, Unknown(Doubt.TOO_NEW, str(error)))
    except BadLease as error:
        return Unreadable(ref.issue, ref.sha, Unknown(Doubt.UNREADABLE, str(error)))


def write_files(git: Git, files: Mapping[str, bytes], message: str, parent: str, when: int) -> str:
    """Store text files, at most one folder deep, as a commit and return its sha; no ref moves."""
    folders: dict[str, list[str]] = {}
    for path, content in sorted(files.items()):
        folder, _, name = path.rpartition("/")
        blob = stored(git, "hash-object", "-w", "--stdin", stdin=content.decode())
        folders.setdefault(folder, []).append(f"100644 blob {blob}\t{name}\n")
    top = folders.pop("", [])
    for folder, entries in folders.items():
        top.append(f"040000 tree {stored(git, 'mktree', stdin=''.join(entries))}\t{folder}\n")
    return committed(git, stored(git, "mktree", stdin="".join(top)), message, parent, when)


def committed(git: Git, tree: str, message: str, parent: str, when: int) -> str:
    """Store a commit of a tree under our own name; `parent` may be empty, or several with spaces between them."""
    values = {"NAME": _NAME, "EMAIL": _EMAIL, "DATE": f"@{when} +0000"}
    identity = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in values.items()}
    parents = [word for sha in parent.split() for word in ("-p", sha)]
    return stored(git, "commit-tree", *parents, tree, stdin=message, variables=identity)


def stored(git: Git, *arguments: str, stdin: str, variables: dict[str, str] | None = None) -> str:
    """Let git store something and return its sha."""
    done = git.ask(*arguments, stdin=stdin, variables=variables)
    if done.status:
        reason = " ".join(done.stderr.split())[:300]
        raise GitFailed(f"git said: {reason}", attempted="writing a claim")
    return done.stdout.strip()
