"""Single objects and refs of this clone, for what comes through GitHub's interface; one function per question."""

from agent_sync.system.git import Git


def has_object(git: Git, sha: str, kind: str) -> bool:
    """Tell whether this clone has an object of a kind."""
    return git.ask("cat-file", "-e", f"{sha}^{{{kind}}}").status == 0


def store_object(git: Git, kind: str, text: str) -> str:
    """Store an object's own bytes and return its sha."""
    return git.ask("hash-object", "-t", kind, "-w", "--stdin", stdin=text).stdout.strip()


def store_tree(git: Git, lines: str) -> None:
    """Store a tree, whose files need not be here."""
    git.ask("mktree", "--missing", stdin=lines)


def set_ref(git: Git, ref: str, sha: str) -> None:
    """Note where a ref was seen elsewhere; without a sha, that it is gone."""
    git.ask("update-ref", "--no-deref", *([ref, sha] if sha else ["-d", ref]))
