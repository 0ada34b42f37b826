"""Single objects and refs of this clone, for what comes through GitHub's interface; one function per question."""

from collections.abc import Mapping, Sequence

from agent_sync.system.git import Git


def missing_commits(git: Git, shas: Sequence[str]) -> list[str]:
    """Return which of these commits this clone does not have, with one process however many there are."""
    kinds = git.sizes(shas).split(b"\n")[:-1] if shas else []
    return [sha for sha, line in zip(shas, kinds, strict=True) if line.split(b" ")[1:2] != [b"commit"]]


def has_object(git: Git, sha: str, kind: str) -> bool:
    """Tell whether this clone has an object of a kind."""
    return git.ask("cat-file", "-e", f"{sha}^{{{kind}}}").status == 0


def store_object(git: Git, kind: str, text: str) -> str:
    """Store an object's own bytes and return its sha."""
    return git.ask("hash-object", "-t", kind, "-w", "--stdin", stdin=text).stdout.strip()


def store_tree(git: Git, lines: str) -> None:
    """Store a tree, whose files need not be here."""
    git.ask("mktree", "--missing", stdin=lines)


def set_refs(git: Git, seen: Mapping[str, str]) -> None:
    """Note where refs were seen elsewhere; without a sha, that one is gone."""
    orders = [f"update {ref} {sha}\n" if sha else f"delete {ref}\n" for ref, sha in seen.items()]
    if orders and git.ask("update-ref", "--no-deref", "--stdin", stdin="".join(orders)).status:
        # One that cannot be noted, such as somebody's ref to what is not here, must not keep the others from it.
        for order in orders:
            git.ask("update-ref", "--no-deref", "--stdin", stdin=order)
