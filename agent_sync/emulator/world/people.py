"""Users, what they may do, and who is asking."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agent_sync.emulator.world.identity import Identity

CLASSIC_SCOPES = ("gist", "project", "read:org", "repo", "workflow")


class Role(StrEnum):
    """A collaborator's role in a repository, weakest first."""

    NONE = "none"
    READ = "read"
    TRIAGE = "triage"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"

    def reaches(self, other: "Role") -> bool:
        """Say whether this role includes what the other one may do."""
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(other)


@dataclass(eq=False)
class User:
    """A person (or, with `is_organization`, an account that owns things)."""

    identity: Identity
    login: str
    name: str
    created_at: datetime
    is_organization: bool = False

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node

    @property
    def email(self) -> str:
        """Return the private address GitHub uses in commits made through its interface."""
        return f"{self.identity.number}+{self.login}@users.noreply.github.com"


@dataclass(frozen=True)
class Viewer:
    """Who is asking, and what the token lets them do; `overrules` is for acts of the world itself."""

    user: User
    scopes: tuple[str, ...] = CLASSIC_SCOPES
    may_write: bool = True
    overrules: bool = False

    @property
    def may_use_projects(self) -> bool:
        """Say whether the token reaches Projects at all."""
        return "project" in self.scopes or "read:project" in self.scopes
