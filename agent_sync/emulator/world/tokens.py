"""Kinds of tokens, each with what it may do: scopes for the older kinds, permissions for the newer."""

from dataclasses import dataclass, field
from enum import StrEnum

CLASSIC_SCOPES = ("gist", "project", "read:org", "repo", "workflow")
LEVELS = ("read", "write", "admin")


class TokenKind(StrEnum):
    """Who has given a token out, and how it says what it may do."""

    CLASSIC = "classic"
    OAUTH = "oauth"
    FINE_GRAINED = "fine_grained"
    APP = "app"
    ACTIONS = "actions"

    @property
    def has_scopes(self) -> bool:
        """Say whether scopes limit tokens of this kind; permissions limit the others."""
        return self in {TokenKind.CLASSIC, TokenKind.OAUTH}


class Policy(StrEnum):
    """Why an organisation keeps tokens out that are good anywhere else."""

    SAML = "saml"
    OAUTH = "oauth"
    IP = "ip"
    CLASSIC = "classic"


@dataclass(frozen=True)
class Token:
    """One configured token; `sso` names the organisations that have let it in."""

    login: str
    kind: TokenKind
    scopes: tuple[str, ...] = CLASSIC_SCOPES
    permissions: dict[str, str] = field(default_factory=dict)
    sso: tuple[str, ...] = ()


ACTIONS_LOGIN = "github-actions[bot]"
# What a workflow's own token has when the workflow asks for all it can get.
ACTIONS_PERMISSIONS = {
    "actions": "write", "checks": "write", "contents": "write", "issues": "write", "metadata": "read",
    "pull_requests": "write", "statuses": "write",
}  # fmt: skip
# These kinds can never have these, whatever is asked for.
IMPOSSIBLE = {
    TokenKind.FINE_GRAINED: {"checks"},
    TokenKind.ACTIONS: {"organization_projects", "workflows"},
}
