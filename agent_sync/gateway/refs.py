"""Refs and git objects through GitHub's interface: read and stored by REST, swapped by GraphQL."""

import base64
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote

from agent_sync.gateway.ref_values import ApiCommit, Signature, TreeEntry
from agent_sync.gateway.transport.line import Call, Line, thing_at
from agent_sync.gateway.transport.token import Area
from agent_sync.task.decision.tasks import Task

_NOBODY = "0" * 40


class RefAccess(Line):
    """The repository's refs; `update_refs` is the interface's only compare-and-swap."""

    @cached_property
    def repository_id(self) -> str:
        """The node id of the repository, asked for once."""
        call = Call("repository_id", dict(self.names), "asking for the repository")
        return str(thing_at(self.ask(call), call, "repository")["id"])

    def refs_below(self, name: str) -> Mapping[str, str]:
        """Return every ref whose name begins so, and the object it is at: one answer, never paged."""
        path = f"git/matching-refs/{quote(name.removeprefix('refs/'), safe='/')}"
        found = self._rest("GET", path, attempted=f"reading refs below {name}")
        if not isinstance(found, list):
            # An answer that lists nothing must not be taken for a list without entries.
            raise TypeError(path)
        return {str(entry["ref"]): str(entry["object"]["sha"]) for entry in found}

    def read_commit(self, sha: str) -> ApiCommit:
        """Return what a commit holds."""
        return _commit(self._rest("GET", f"git/commits/{sha}", attempted="reading a claim"))

    def read_tree(self, sha: str) -> tuple[TreeEntry, ...]:
        """Return everything in a tree, folders and what they hold included."""
        found = self._rest("GET", f"git/trees/{sha}?recursive=1", attempted="reading a claim")
        return tuple(
            TreeEntry(str(one["path"]), str(one["mode"]), str(one["type"]), str(one["sha"]), int(one.get("size") or 0))
            for one in found.get("tree") or ()
        )

    def read_blob(self, sha: str) -> bytes:
        """Return a file's bytes."""
        found = self._rest("GET", f"git/blobs/{sha}", attempted="reading a claim")
        return base64.b64decode(str(found.get("content") or ""))

    def store_tree(self, files: Mapping[str, bytes]) -> str:
        """Store text files as one tree and return its sha."""
        entries = [
            {"path": path, "mode": "100644", "type": "blob", "content": content.decode()}
            for path, content in sorted(files.items())
        ]
        return str(self._rest("POST", "git/trees", {"tree": entries}, attempted="writing a claim")["sha"])

    def store_blob(self, content: bytes) -> str:
        """Store a file's bytes and return its sha."""
        body = {"content": base64.b64encode(content).decode(), "encoding": "base64"}
        return str(self._rest("POST", "git/blobs", body, attempted="saving a file")["sha"])

    def store_tree_from(self, base: str, entries: Sequence[TreeEntry]) -> str:
        """Store a tree that differs from another one in some entries; one without a sha is left out."""
        listed = [{"path": one.path, "mode": one.mode, "type": one.kind, "sha": one.sha or None} for one in entries]
        body = {"tree": listed} | ({"base_tree": base} if base else {})
        return str(self._rest("POST", "git/trees", body, attempted="saving files")["sha"])

    def store_commit(self, commit: ApiCommit) -> ApiCommit:
        """Store a commit that no ref names yet, and return it as it was stored."""
        body = {
            "message": commit.message,
            "tree": commit.tree,
            "parents": list(commit.parents),
            "author": vars(commit.author),
            "committer": vars(commit.committer),
        }
        return _commit(self._rest("POST", "git/commits", body, attempted="writing a claim"))

    def update_refs(self, updates: Sequence[tuple[str, str, str]]) -> None:
        """Move all refs, each given as name, old and new value, or none: each only if it still is what it was."""
        listed = [
            # A renewal replaces the one before it and is no fast-forward; the old value is checked all the same.
            {"name": name, "beforeOid": before or _NOBODY, "afterOid": after or _NOBODY, "force": True}
            for name, before, after in updates
        ]
        values = {"repository": self.repository_id, "updates": listed, "mark": updates[0][2] or _NOBODY}
        self.ask(Call("update_refs", values, f"moving {updates[0][0]}", is_write=True))

    def link_branch(self, task: Task, branch: str, sha: str) -> bool:
        """Create a branch at a commit of the remote, linked to the issue; one that is there already is not linked."""
        values = {"issue": task.issue_id, "name": branch, "oid": sha}
        attempted = f"linking branch {branch} to issue #{task.number}"
        answer = self.ask(Call("link_branch", values, attempted, Area.REPOSITORY, is_write=True))
        return answer.at("link", "linkedBranch") is not None

    def _rest(self, method: str, path: str, body: dict[str, Any] | None = None, *, attempted: str) -> Any:
        from agent_sync.gateway.transport.rest import Rest

        # Objects without a ref may be stored twice: they are named by what they hold.
        return Rest(self).ask(method, path, body, Call("", attempted=attempted))


def _commit(found: Mapping[str, Any]) -> ApiCommit:
    return ApiCommit(
        tree=str(found["tree"]["sha"]),
        parents=tuple(str(parent["sha"]) for parent in found["parents"]),
        author=_signature(found["author"]),
        committer=_signature(found["committer"]),
        message=str(found["message"]),
        sha=str(found["sha"]),
    )


def _signature(found: Mapping[str, Any]) -> Signature:
    return Signature(str(found["name"]), str(found["email"]), str(found["date"]))
