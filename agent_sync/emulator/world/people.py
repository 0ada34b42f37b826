"""Users, what they may do, and who is asking."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from agent_sync.emulator.world.identity import Identity
from agent_sync.emulator.world.tokens import CLASSIC_SCOPES, LEVELS, TokenKind


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
    """A person, or an account that owns things (an organisation) or acts for an application (a bot)."""

    identity: Identity
    login: str
    name: str
    created_at: datetime
    is_organization: bool = False
    is_bot: bool = False

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
    kind: TokenKind | None = None
    permissions: Mapping[str, str] = field(default_factory=dict)
    sso: frozenset[str] = frozenset()

    @property
    def workflow_refusal(self) -> str:
        """Return GitHub's words, with %s for the path, for workflow files this token must not push; empty if it may."""
        start = "refusing to allow a {} to create or update workflow `%s` without {}"
        if self.has_scopes:
            lacks = "workflow" not in self.scopes
            return start.format("Personal Access Token", "`workflow` scope") if lacks else ""
        who = "Personal Access Token" if self.kind is TokenKind.FINE_GRAINED else "GitHub App"
        return "" if self.may("workflows", "write") else start.format(who, "`workflows` permission")

    @property
    def has_scopes(self) -> bool:
        """Say whether scopes limit this token; a token nobody has configured counts as a classic one."""
        return self.kind is None or self.kind.has_scopes

    @property
    def no_access(self) -> str:
        """Return GitHub's sentence for what this token must not touch."""
        by = "integration" if self.kind in {TokenKind.APP, TokenKind.ACTIONS} else "personal access token"
        return f"Resource not accessible by {by}"

    def may(self, area: str, level: str) -> bool:
        """Say whether the token's permissions reach a level in an area; tokens with scopes have all of them."""
        held = self.permissions.get(area)
        return self.has_scopes or (held in LEVELS and LEVELS.index(held) >= LEVELS.index(level))

    @property
    def may_use_projects(self) -> bool:
        """Say whether the token reaches Projects at all."""
        if not self.has_scopes:
            return self.may("organization_projects", "read")
        return "project" in self.scopes or "read:project" in self.scopes

    @property
    def may_write_code(self) -> bool:
        """Say whether the token reaches code at all; a role may still forbid it."""
        if not self.has_scopes:
            return self.may("contents", "write")
        return bool({"repo", "public_repo"} & set(self.scopes))
