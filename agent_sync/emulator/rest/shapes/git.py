"""Refs, branches, commits and changed files in REST's shapes."""

import base64
from typing import Any

from agent_sync.emulator.exchange import Links
from agent_sync.emulator.rest.shapes.people import optional_user
from agent_sync.emulator.rest.shapes.repositories import api_url, web_url
from agent_sync.emulator.world.bare import Author, Commit
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.repositories import Repository

STATUS_WORDS = {"A": "added", "D": "removed", "M": "modified", "T": "changed"}
UNSIGNED = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def node_id(prefix: str, text: str) -> str:
    """Return a node id for something that lives in git and not in the world's register."""
    return f"{prefix}_kwDO{base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


def ref_shape(links: Links, repository: Repository, name: str, sha: str) -> dict[str, Any]:
    """Return a ref and the object it names."""
    root = f"{api_url(links, repository)}/git"
    kind = repository.git.run("cat-file", "-t", sha)
    return {
        "ref": name,
        "node_id": node_id("REF", name),
        "url": f"{root}/{name}",
        "object": {"type": kind, "sha": sha, "url": f"{root}/{kind}s/{sha}"},
    }


def branch_shape(links: Links, repository: Repository, name: str, sha: str) -> dict[str, Any]:
    """Return a branch as lists show it."""
    protected = name == repository.default_branch and bool(repository.required_checks)
    commit = {"sha": sha, "url": f"{api_url(links, repository)}/commits/{sha}"}
    return {"name": name, "commit": commit, "protected": protected}


def full_branch(links: Links, repository: Repository, name: str, sha: str) -> dict[str, Any]:
    """Return a branch as asking for it by name shows it."""
    url = f"{api_url(links, repository)}/branches/{name}"
    short = branch_shape(links, repository, name, sha)
    contexts = sorted(repository.required_checks) if short["protected"] else []
    return short | {
        "commit": commit_shape(links, repository, repository.git.commit(sha)),
        "_links": {"self": url, "html": f"{web_url(links, repository)}/tree/{name}"},
        "protection": {
            "enabled": short["protected"],
            "required_status_checks": {"contexts": contexts, "checks": [], "enforcement_level": "off"},
        },
        "protection_url": f"{url}/protection",
    }


def _signature(author: Author) -> dict[str, str]:
    return {"name": author.name, "email": author.email, "date": author.when}


def commit_shape(
    links: Links, repository: Repository, commit: Commit, users: dict[str, User] | None = None
) -> dict[str, Any]:
    """Return a commit."""
    root = api_url(links, repository)
    known = {user.email: user for user in (users or {}).values()}
    return {
        "sha": commit.sha,
        "node_id": node_id("C", commit.sha),
        "url": f"{root}/commits/{commit.sha}",
        "html_url": f"{web_url(links, repository)}/commit/{commit.sha}",
        "comments_url": f"{root}/commits/{commit.sha}/comments",
        "commit": {
            "author": _signature(commit.author),
            "committer": _signature(commit.committer),
            "message": commit.message,
            "tree": {"sha": commit.tree, "url": f"{root}/git/trees/{commit.tree}"},
            "url": f"{root}/git/commits/{commit.sha}",
            "comment_count": 0,
            "verification": UNSIGNED,
        },
        "author": optional_user(links, known.get(commit.author.email)),
        "committer": optional_user(links, known.get(commit.committer.email)),
        "parents": [_parent(links, repository, sha) for sha in commit.parents],
    }


def _parent(links: Links, repository: Repository, sha: str) -> dict[str, str]:
    web = f"{web_url(links, repository)}/commit/{sha}"
    return {"sha": sha, "url": f"{api_url(links, repository)}/commits/{sha}", "html_url": web}


def git_commit_shape(links: Links, repository: Repository, commit: Commit) -> dict[str, Any]:
    """Return a commit as the git database shows it."""
    root = api_url(links, repository)
    return {
        "sha": commit.sha,
        "node_id": node_id("C", commit.sha),
        "url": f"{root}/git/commits/{commit.sha}",
        "html_url": f"{web_url(links, repository)}/commit/{commit.sha}",
        "author": _signature(commit.author),
        "committer": _signature(commit.committer),
        "tree": {"sha": commit.tree, "url": f"{root}/git/trees/{commit.tree}"},
        "message": commit.message,
        "parents": [_parent(links, repository, sha) for sha in commit.parents],
        "verification": UNSIGNED,
    }


def changed_files(links: Links, repository: Repository, base: str, head: str) -> list[dict[str, Any]]:
    """Return what differs between the merge base of two commits and the second one."""
    git, span = repository.git, f"{base}...{head}"
    listing = git.run("diff", "--no-renames", "--name-status", "-z", span).split("\0")
    words = dict(zip(listing[1::2], listing[0::2], strict=False))
    counts = git.run("diff", "--no-renames", "--numstat", "-z", span).split("\0")
    return [
        _counted(*line.split("\t")) | _placed(links, repository, head, line.split("\t")[2], words)
        for line in counts
        if line
    ]


def _counted(added: str, removed: str, _name: str) -> dict[str, Any]:
    """Return the size of a change; git writes a hyphen for binary files."""
    plus, minus = (0 if count == "-" else int(count) for count in (added, removed))
    return {"additions": plus, "deletions": minus, "changes": plus + minus}


def _placed(links: Links, repository: Repository, head: str, name: str, words: dict[str, str]) -> dict[str, Any]:
    web, word = web_url(links, repository), words.get(name, "M")
    return {
        "sha": None if word == "D" else repository.git.run("rev-parse", f"{head}:{name}"),
        "filename": name,
        "status": STATUS_WORDS.get(word, "modified"),
        "blob_url": f"{web}/blob/{head}/{name}",
        "raw_url": f"{web}/raw/{head}/{name}",
        "contents_url": f"{api_url(links, repository)}/contents/{name}?ref={head}",
    }
