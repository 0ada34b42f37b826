"""The git database's objects: blobs, trees and commits, written without git."""

import base64
import binascii
import re
from typing import Any

from agent_sync.emulator.exchange import Answer, json_answer
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.rest.call import Call
from agent_sync.emulator.rest.refs import GIT
from agent_sync.emulator.rest.shapes.git import git_commit_shape, node_id
from agent_sync.emulator.rest.shapes.repositories import api_url
from agent_sync.emulator.world.bare import Author, GitFailed
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.objects import NewEntry, has_object, write_blob, write_tree
from agent_sync.emulator.world.refusal import Kind, Refused, invalid, not_found

FULL_SHA = re.compile(r"[0-9a-f]{40}")


def _require_writable(call: Call) -> None:
    require_role(call.viewer, call.repository)
    if not call.repository.git.refs():
        raise Refused(Kind.CONFLICT, "Git Repository is empty.")


def _existing(call: Call, sha: object, kind: str, sentence: str) -> str:
    if not isinstance(sha, str) or not FULL_SHA.fullmatch(sha) or not has_object(call.repository.git, sha, kind):
        raise Refused(Kind.UNPROCESSABLE, sentence)
    return sha


def create_blob(call: Call) -> Answer:
    """Store a file."""
    _require_writable(call)
    content, encoding = call.text("Blob", "content"), call.optional_text("Blob", "encoding") or "utf-8"
    try:
        data = base64.b64decode(content) if encoding == "base64" else content.encode()
    except (binascii.Error, ValueError):
        raise invalid("Blob", "content") from None
    sha = write_blob(call.repository.git, data)
    return json_answer(201, {"url": f"{api_url(call.links, call.repository)}/git/blobs/{sha}", "sha": sha})


def get_blob(call: Call) -> Answer:
    """Answer a file with its bytes."""
    sha, git = call.params["file_sha"], call.repository.git
    if not FULL_SHA.fullmatch(sha) or not has_object(git, sha, "blob"):
        raise not_found()
    data = git.blob(sha)
    return json_answer(
        200,
        {
            "sha": sha,
            "node_id": node_id("B", sha),
            "size": len(data),
            "url": f"{api_url(call.links, call.repository)}/git/blobs/{sha}",
            "content": base64.encodebytes(data).decode(),
            "encoding": "base64",
        },
    )


def create_tree(call: Call) -> Answer:
    """Store a tree, whose files may come along as texts."""
    _require_writable(call)
    entries = call.body.get("tree")
    if not isinstance(entries, list):
        raise invalid("Tree", "tree", code="missing_field")
    base = call.body.get("base_tree")
    if base is not None:
        base = _existing(call, base, "tree", "base_tree is not a valid tree object")
    try:
        sha = write_tree(call.repository.git, [_entry(entry) for entry in entries], base=base)
    except GitFailed as failure:
        raise Refused(Kind.UNPROCESSABLE, "tree.sha is not a valid object") from failure
    return json_answer(201, _tree(call, sha, deep=False))


def _entry(entry: Any) -> NewEntry:
    match entry:
        case {"path": str(path), "mode": str(mode), "content": str(content)}:
            return NewEntry(path, mode, content=content)
        case {"path": str(path), "mode": str(mode), "sha": str() | None as sha}:
            return NewEntry(path, mode, sha=sha)
        case _:
            raise Refused(Kind.UNPROCESSABLE, "Must supply a valid tree.mode, tree.path and tree.sha or tree.content")


def get_tree(call: Call) -> Answer:
    """Answer what a tree holds, with everything below it if asked."""
    sha = call.params["tree_sha"]
    git = call.repository.git
    found = git.resolve(sha) or (sha if FULL_SHA.fullmatch(sha) and has_object(git, sha, "tree") else None)
    if found is None:
        raise not_found()
    return json_answer(
        200, _tree(call, git.run("rev-parse", f"{found}^{{tree}}"), deep="recursive" in call.asked.query)
    )


def _tree(call: Call, sha: str, *, deep: bool) -> dict[str, Any]:
    root = f"{api_url(call.links, call.repository)}/git"
    lines = call.repository.git.run("ls-tree", "-z", "-l", *(["-r", "-t"] if deep else []), sha).split("\0")
    shown = [_line(root, line) for line in lines if line]
    return {"sha": sha, "url": f"{root}/trees/{sha}", "tree": shown, "truncated": False}


def _line(root: str, line: str) -> dict[str, Any]:
    head, path = line.split("\t", 1)
    mode, kind, sha, size = head.split()
    shown = {"path": path, "mode": mode, "type": kind, "sha": sha, "url": f"{root}/{kind}s/{sha}"}
    return shown if size == "-" else shown | {"size": int(size)}


def create_commit(call: Call) -> Answer:
    """Store a commit that no ref names yet."""
    _require_writable(call)
    git, message = call.repository.git, call.text("Commit", "message")
    tree = _existing(call, call.body.get("tree"), "tree", "Tree SHA does not exist")
    parents = [
        _existing(call, parent, "commit", "Parent SHA does not exist or is not a commit object")
        for parent in call.body.get("parents") or []
    ]
    author = _author(call, "author", None)
    sha = git.write_commit(tree, parents, message, author=author, committer=_author(call, "committer", author))
    return json_answer(201, git_commit_shape(call.links, call.repository, git.commit(sha)))


def _author(call: Call, name: str, default: Author | None) -> Author:
    given, user = call.body.get(name), call.viewer.user
    usual = default or Author(user.name, user.email, timestamp(call.world.clock.now()))
    if not isinstance(given, dict):
        return usual
    return Author(
        str(given.get("name") or usual.name),
        str(given.get("email") or usual.email),
        str(given.get("date") or usual.when),
    )


ROUTES = (
    ("POST", f"{GIT}/blobs", "git/create-blob", create_blob),
    ("GET", f"{GIT}/blobs/{{file_sha}}", "git/get-blob", get_blob),
    ("POST", f"{GIT}/trees", "git/create-tree", create_tree),
    ("GET", f"{GIT}/trees/{{tree_sha:path}}", "git/get-tree", get_tree),
    ("POST", f"{GIT}/commits", "git/create-commit", create_commit),
)
