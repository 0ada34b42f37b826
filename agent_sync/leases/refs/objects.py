"""Claim commits, written and read with plumbing: no index, no checkout, no identity of the user's."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agent_sync.errors import BadLease, GitFailed, LeaseTooNew
from agent_sync.leases.model import FILE_NAME, LARGEST, Lease, Tip, Where, parse
from agent_sync.leases.refs.blobs import Blob, TooLarge, read_blobs
from agent_sync.leases.refs.remote import CLAIMS
from agent_sync.leases.results import Doubt, Unknown, Unreadable
from agent_sync.system.bounds import LARGEST_NUMBER
from agent_sync.system.git import Git
from agent_sync.task.decision.outside_text import quoted

_ISSUE = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)
_NAME, _EMAIL = "agent-sync", "agent-sync@localhost"


@dataclass(frozen=True)
class _Ref:
    issue: int
    sha: str
    # A ref below the one of an issue, whose name git then takes for a folder.
    in_the_way: str = ""


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
    """Read every claim whose ref is `prefix` or lies below it, with three processes however many there are."""
    refs = {ref.issue: ref for ref in _refs(git, prefix)}.values()
    found = read_blobs(git, [f"{ref.sha}:{FILE_NAME}" for ref in refs], largest=LARGEST)
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
    folder = prefix.rpartition("/")[0] + "/"
    # Not by lines: a ref's name may hold what Unicode calls the end of one.
    for line in listed.stdout.split("\n")[:-1]:
        name, _, sha = line.rpartition(" ")
        number, _, more = name.removeprefix(folder).partition("/")
        # Whoever names a ref otherwise does not speak of an issue.
        if _ISSUE.fullmatch(number) and int(number) <= LARGEST_NUMBER:
            yield _Ref(int(number), sha, f"{CLAIMS}{number}/{more}" if more else "")


def _judged(ref: _Ref, content: Blob, where: Where) -> Tip | Unreadable:
    try:
        return Tip(ref.sha, _lease(ref, content), where)
    except LeaseTooNew as error:
        return Unreadable(ref.issue, ref.sha, Unknown(Doubt.TOO_NEW, str(error)))
    except BadLease as error:
        return Unreadable(ref.issue, ref.sha, Unknown(Doubt.UNREADABLE, str(error)))


def _lease(ref: _Ref, content: Blob) -> Lease:
    if ref.in_the_way:
        who = "a person who may write to the repository must remove it"
        raise BadLease(f"The ref {quoted(ref.in_the_way)} is in the way of the claim of #{ref.issue}: {who}.")
    match content:
        case None:
            raise BadLease(f"The claim of #{ref.issue} has no {FILE_NAME}.")
        case TooLarge(size):
            message = f"{FILE_NAME} has {size} bytes, more than {LARGEST}"
            raise BadLease(f"The claim of #{ref.issue} cannot be read: {message}.")
        case bytes():
            return parse(content, issue=ref.issue)


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
