"""The world: who and what there is, found by name or node id, behind one lock."""

import re
import threading
from pathlib import Path
from typing import TypeVar

from agent_sync.emulator.world.bare import BareRepository
from agent_sync.emulator.world.boards import Project
from agent_sync.emulator.world.identity import Clock, Identity, IdSource
from agent_sync.emulator.world.people import CLASSIC_SCOPES, Role, User, Viewer
from agent_sync.emulator.world.refusal import Kind, Refused, not_found
from agent_sync.emulator.world.repositories import Repository

Node = TypeVar("Node")

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*(?:\[bot\])?)")


class World:
    """Everything there is; callers hold `lock` while they read or change it."""

    def __init__(self, home: Path, *, default_login: str = "octo") -> None:
        self.home = home
        self.default_login = default_login
        self.lock = threading.RLock()
        self.clock = Clock()
        self.ids = IdSource()
        self.users: dict[str, User] = {}
        self.repositories: dict[str, Repository] = {}
        self.projects: dict[tuple[str, int], Project] = {}
        self.nodes: dict[str, object] = {}

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, lock=threading.RLock())

    def identify(self, prefix: str) -> Identity:
        """Return the next identity of a kind."""
        return self.ids.next(prefix)

    def register(self, node_id: str, thing: Node) -> Node:
        """Make a thing findable by its node id."""
        self.nodes[node_id] = thing
        return thing

    def node(self, node_id: str) -> object:
        """Return the thing with that node id, or refuse as GitHub does."""
        thing = self.nodes.get(node_id)
        if thing is None:
            raise not_found(f"Could not resolve to a node with the global id of '{node_id}'")
        return thing

    def add_user(self, login: str, name: str | None = None, *, is_organization: bool = False) -> User:
        """Create a user, or return the one there is."""
        known = self.users.get(login.lower())
        if known:
            return known
        identity = self.identify("O" if is_organization else "U")
        user = User(identity, login, name or login.capitalize(), self.clock.now(), is_organization)
        self.users[login.lower()] = user
        return self.register(user.id, user)

    def add_repository(self, owner: User, name: str, *, default_branch: str = "main") -> Repository:
        """Create a repository with an empty bare repository behind it."""
        git = BareRepository(self.home / owner.login / f"{name}.git")
        git.create(default_branch)
        repository = Repository(
            identity=self.identify("R"), owner=owner, name=name, git=git,
            created_at=self.clock.now(), default_branch=default_branch,
        )  # fmt: skip
        self.repositories[repository.full_name.lower()] = repository
        return self.register(repository.id, repository)

    def user(self, login: str) -> User:
        """Return the user of that login, or refuse."""
        user = self.users.get(login.lower())
        if user is None:
            raise not_found(f"Could not resolve to a User with the login of '{login}'.")
        return user

    def repository(self, owner: str, name: str) -> Repository:
        """Return the repository of that name, or refuse."""
        found = self.repositories.get(f"{owner}/{name}".lower())
        if found is None:
            raise not_found(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return found

    def project(self, owner: str, number: int) -> Project:
        """Return the owner's project of that number, or refuse."""
        found = self.projects.get((owner.lower(), number))
        if found is None:
            raise not_found(f"Could not resolve to a ProjectV2 with the number {number}.")
        return found

    def viewer(self, token: str | None) -> Viewer:
        """Return who a token signs in; no token at all is the default user."""
        owner = self.user(self.default_login)
        match (token or "").partition(":"):
            case "bad-token", "", _:
                raise Refused(Kind.UNAUTHORIZED, "Bad credentials")
            case "no-project-scope", "", _:
                return Viewer(owner, tuple(scope for scope in CLASSIC_SCOPES if scope != "project"))
            case "read-only", "", _:
                return Viewer(owner, may_write=False)
            case "as", ":", login if LOGIN.fullmatch(login):
                return Viewer(self.collaborator(login))
            case "as", ":", _:
                raise Refused(Kind.UNAUTHORIZED, "Bad credentials")
            case _:
                return Viewer(owner)

    def collaborator(self, login: str) -> User:
        """Return a user who may write to every repository, created on first use."""
        if login.lower() in self.users:
            return self.users[login.lower()]
        user = self.add_user(login)
        for repository in self.repositories.values():
            repository.roles.setdefault(login.lower(), Role.WRITE)
        return user
