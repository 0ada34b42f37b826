"""Repositories: conversations under one number sequence, labels, checks, and the bare repository."""

from dataclasses import dataclass, field
from datetime import datetime

from agent_sync.emulator.world.bare import BareRepository
from agent_sync.emulator.world.checks import CheckRun, CommitStatus, WorkflowRun
from agent_sync.emulator.world.conversations import Conversation, Issue, Label
from agent_sync.emulator.world.identity import Identity
from agent_sync.emulator.world.people import Role, User
from agent_sync.emulator.world.pulls import PullRequest, QueueEntry
from agent_sync.emulator.world.pushes import PushRules
from agent_sync.emulator.world.rules import MergeRules


@dataclass(eq=False, kw_only=True)
class Repository:
    """A repository and everything that belongs to it."""

    identity: Identity
    owner: User
    name: str
    git: BareRepository = field(repr=False)
    created_at: datetime
    default_branch: str = "main"
    description: str | None = None
    archived: bool = False
    private: bool = False
    has_issues: bool = True
    parent: "Repository | None" = field(default=None, repr=False)
    transferred: dict[int, Issue] = field(default_factory=dict, repr=False)
    roles: dict[str, Role] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    conversations: dict[int, Conversation] = field(default_factory=dict, repr=False)
    checks: dict[str, list[CheckRun]] = field(default_factory=dict, repr=False)
    statuses: dict[str, list[CommitStatus]] = field(default_factory=dict, repr=False)
    runs: list[WorkflowRun] = field(default_factory=list, repr=False)
    required_checks: set[str] = field(default_factory=set)
    rules: MergeRules = field(default_factory=MergeRules)
    queue: list[QueueEntry] = field(default_factory=list, repr=False)
    refused_refs: list[str] = field(default_factory=list)
    push_rules: PushRules = field(default_factory=PushRules)
    known_branches: dict[str, str] = field(default_factory=dict)
    last_number: int = 0

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node

    @property
    def full_name(self) -> str:
        """Return OWNER/NAME."""
        return f"{self.owner.login}/{self.name}"

    @property
    def issues(self) -> list[Issue]:
        """Return the issues, oldest first."""
        return [entry for entry in self.conversations.values() if isinstance(entry, Issue)]

    @property
    def pulls(self) -> list[PullRequest]:
        """Return the pull requests, oldest first."""
        return [entry for entry in self.conversations.values() if isinstance(entry, PullRequest)]

    def next_number(self) -> int:
        """Take the next number of the sequence issues and pull requests share."""
        self.last_number += 1
        return self.last_number

    def association_of(self, user: User) -> str:
        """Return how a user is related to the repository, in GitHub's words; reading alone makes nobody a member."""
        if user is self.owner:
            return "OWNER"
        if user.is_bot or not self.roles.get(user.login.lower(), Role.NONE).reaches(Role.TRIAGE):
            return "NONE"
        return "MEMBER" if self.owner.is_organization else "COLLABORATOR"

    def role_of(self, user: User) -> Role:
        """Return what a user may do here; anyone may read a public repository."""
        usual = Role.NONE if self.private else Role.READ
        return self.roles.get(user.login.lower(), Role.ADMIN if user is self.owner else usual)
