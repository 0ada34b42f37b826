"""The world: who and what there is, found by name or node id, behind one lock."""

import re
import threading
from pathlib import Path
from typing import TypeVar

from agent_sync.emulator.world.bare import BareRepository
from agent_sync.emulator.world.boards import Project
from agent_sync.emulator.world.identity import Clock, Identity, IdSource
from agent_sync.emulator.world.issue_fields import IssueField, IssueType
from agent_sync.emulator.world.people import Role, User, Viewer
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.pushes import GitCredentials
from agent_sync.emulator.world.refusal import Kind, Refused, not_found
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.tokens import CLASSIC_SCOPES, Policy, Token

Node = TypeVar("Node")
BOT = "[bot]"
LAYOUT = 2  # raised when a kept world of the version before cannot be read any more

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*(?:\[bot\])?)")


class World:
    """Everything there is; callers hold `lock` while they read or change it."""

    def __init__(self, home: Path, *, default_login: str = "octo") -> None:
        self.layout = LAYOUT
        self.home = home
        self.default_login = default_login
        self.lock = threading.RLock()
        self.clock = Clock()
        self.ids = IdSource()
        self.users: dict[str, User] = {}
        self.repositories: dict[str, Repository] = {}
        self.projects: dict[tuple[str, int], Project] = {}
        self.moved: dict[str, Repository] = {}
        self.merge_orders: list[PullRequest] = []
        self.tokens: dict[str, Token] = {}
        self.policies: dict[str, Policy] = {}
        self.most_nodes: int | None = None
        self.git_credentials = GitCredentials()
        self.issue_fields: list[IssueField] = []
        self.issue_types: list[IssueType] = []
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
        """Create a user, or return the one there is; a login that ends in `[bot]` belongs to an application."""
        known = self.users.get(login.lower())
        if known:
            return known
        is_bot = login.endswith(BOT)
        identity = self.identify("O" if is_organization else "BOT" if is_bot else "U")
        user = User(identity, login, name or login.capitalize(), self.clock.now(), is_organization, is_bot)
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
        """Return the repository of that name, now or before it moved, or refuse."""
        wanted = f"{owner}/{name}".lower()
        found = self.repositories.get(wanted) or self.moved.get(wanted)
        if found is None:
            raise not_found(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return found

    def project(self, owner: str, number: int) -> Project:
        """Return the owner's project of that number, or refuse."""
        found = self.projects.get((owner.lower(), number))
        if found is None:
            raise not_found(f"Could not resolve to a ProjectV2 with the number {number}.")
        return found

    def first_project(self, owner: User) -> Project:
        """Return the owner's board with the lowest number, or refuse."""
        numbers = sorted(number for login, number in self.projects if login == owner.login.lower())
        return self.project(owner.login, numbers[0] if numbers else 1)

    def viewer(self, token: str | None) -> Viewer:
        """Return who a token signs in; no token at all is the default user."""
        if token in self.tokens:
            return self._configured(self.tokens[token])
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

    def _configured(self, token: Token) -> Viewer:
        return Viewer(
            self.add_user(token.login), token.scopes if token.kind.has_scopes else (), kind=token.kind,
            permissions=dict(token.permissions), sso=frozenset(login.lower() for login in token.sso),
        )  # fmt: skip

    def collaborator(self, login: str) -> User:
        """Return a user who may write to every repository, created on first use."""
        if login.lower() in self.users:
            return self.users[login.lower()]
        user = self.add_user(login)
        for repository in self.repositories.values():
            repository.roles.setdefault(login.lower(), Role.WRITE)
        return user
