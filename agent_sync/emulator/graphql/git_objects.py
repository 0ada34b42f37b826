"""Refs and commits as GraphQL nodes: read from git when asked, found again by ids that name them."""

import base64
import binascii
import re
from dataclasses import dataclass

from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.world import bare
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

# What git would follow to some other commit is no name of a ref.
EXPRESSION = re.compile(r"[~^:\s\\?*\[]|@\{|\.\.")
KNOWN_PREFIXES = ("refs/heads/", "refs/tags/", "refs/pull/")


def derived_id(prefix: str, repository: Repository, name: str) -> str:
    """Return a node id for something that exists only inside git or as a summary."""
    packed = base64.urlsafe_b64encode(f"{repository.identity.number}:{name}".encode()).decode()
    return f"{prefix}_kwDO{packed.rstrip('=')}"


@dataclass(frozen=True)
class GitRef:
    """A ref and what it points at."""

    repository: Repository
    full_name: str
    sha: str

    @property
    def id(self) -> str:
        """Return the node id."""
        return derived_id("REF", self.repository, self.full_name)

    @property
    def prefix(self) -> str:
        """Return the part of the name that says what kind of ref it is."""
        known = (prefix for prefix in KNOWN_PREFIXES if self.full_name.startswith(prefix))
        return next(known, self.full_name.rpartition("/")[0] + "/")

    @property
    def name(self) -> str:
        """Return the name without its prefix."""
        return self.full_name.removeprefix(self.prefix)

    @property
    def target(self) -> "GitCommit":
        """Return the commit it points at."""
        return GitCommit(self.repository, self.sha)


@dataclass(frozen=True)
class GitCommit:
    """A commit of a repository."""

    repository: Repository
    oid: str

    @property
    def id(self) -> str:
        """Return the node id."""
        return derived_id("C", self.repository, self.oid)

    @property
    def abbreviated_oid(self) -> str:
        """Return the short form of the SHA."""
        return self.oid[:7]

    @property
    def path(self) -> str:
        """Return the path of the commit's page."""
        return f"/{self.repository.full_name}/commit/{self.oid}"

    def read(self, request: Request) -> bare.Commit:
        """Return what the commit says, asking git once per request."""
        key = (self.repository.id, self.oid)
        if key not in request.memory:
            request.memory[key] = self.repository.git.commit(self.oid)
        found: bare.Commit = request.memory[key]
        return found


def ref_of(repository: Repository, name: str) -> GitRef | None:
    """Return a ref by its full name, or a branch by its short one."""
    full = name if name.startswith("refs/") else f"refs/heads/{name}"
    sha = None if EXPRESSION.search(full) else repository.git.ref(full)
    return GitRef(repository, full, sha) if sha else None


def commit_of(repository: Repository, sha: str | None) -> GitCommit | None:
    """Return a commit, or nothing where there is no SHA."""
    return GitCommit(repository, sha) if sha else None


def derived_node(world: World, node_id: str) -> GitRef | GitCommit | None:
    """Return the ref or commit that an id names, if it exists."""
    prefix, _, packed = node_id.partition("_kwDO")
    if prefix not in {"REF", "C"}:
        return None
    try:
        text = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    number, _, name = text.partition(":")
    repository = next((r for r in world.repositories.values() if str(r.identity.number) == number), None)
    if repository is None:
        return None
    if prefix == "REF":
        return ref_of(repository, name)
    sha = repository.git.resolve(name)
    return commit_of(repository, sha)
