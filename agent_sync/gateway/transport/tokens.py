"""What each kind of token cannot do, and what helps."""

from dataclasses import dataclass
from enum import Enum


class TokenKind(Enum):
    """A kind of token, recognised by how it begins."""

    CLASSIC = "classic token"
    OAUTH = "token of gh"
    FINE_GRAINED = "fine-grained token"
    APP = "GitHub App token"
    UNKNOWN = "token"


class Area(Enum):
    """A part of GitHub that needs a permission of its own."""

    REPOSITORY = "the repository"
    PULLS = "pull requests"
    ISSUES = "issues"
    CHECKS = "check runs"
    BOARD = "the board"
    ACTIONS = "job logs"


@dataclass(frozen=True)
class Advice:
    """What is missing, as GitHub names it, why, and what helps."""

    scope: str
    why: str
    helps: str


PREFIXES = {
    "ghp_": TokenKind.CLASSIC,
    "gho_": TokenKind.OAUTH,
    "github_pat_": TokenKind.FINE_GRAINED,
    "ghs_": TokenKind.APP,
    "ghu_": TokenKind.APP,
}
_CLASSIC_SCOPES = {Area.BOARD: "project"}
_PERMISSIONS = {
    Area.REPOSITORY: "Contents: read",
    Area.PULLS: "Pull requests: write",
    Area.ISSUES: "Issues: write",
    Area.CHECKS: "Checks: read",
    Area.BOARD: "Projects: write",
    Area.ACTIONS: "Actions: read",
}
_CLASSIC_WAY_OUT = "export GH_TOKEN with a classic token that has the scopes repo and project"


def kind_of(token: str) -> TokenKind:
    """Return the kind of a token."""
    return next((kind for prefix, kind in PREFIXES.items() if token.startswith(prefix)), TokenKind.UNKNOWN)


def advice(kind: TokenKind, area: Area) -> Advice:
    """Return why a token of this kind may not reach a part of GitHub."""
    match kind:
        case TokenKind.CLASSIC | TokenKind.OAUTH | TokenKind.UNKNOWN:
            return _for_classic(kind, _CLASSIC_SCOPES.get(area, "repo"))
        case TokenKind.FINE_GRAINED:
            return _for_fine_grained(area)
        case TokenKind.APP:
            return _for_app(area)


def _for_classic(kind: TokenKind, scope: str) -> Advice:
    why = f"The {kind.value} lacks the scope {scope}, or its owner may not do this."
    if kind is TokenKind.CLASSIC:
        return Advice(scope, why, f"add the scope {scope} to the token in GitHub's settings, under Tokens (classic)")
    return Advice(scope, why, f"gh auth refresh --scopes {scope}")


def _for_fine_grained(area: Area) -> Advice:
    permission = _PERMISSIONS[area]
    if area is Area.CHECKS:
        why = "A fine-grained token cannot read check runs: GitHub has no such permission for it."
        return Advice(permission, why, _CLASSIC_WAY_OUT)
    if area is Area.BOARD:
        why = (
            "A fine-grained token reaches an organisation's boards with the organisation permission Projects: write, "
            "and the boards of a user never."
        )
        return Advice(permission, why, _CLASSIC_WAY_OUT)
    why = f"The fine-grained token lacks the repository permission {permission}, or does not cover this repository."
    return Advice(permission, why, f"grant {permission} to the token in GitHub's settings, for this repository")


def _for_app(area: Area) -> Advice:
    permission = _PERMISSIONS[area]
    if area is Area.BOARD:
        why = (
            "A GitHub App token reaches an organisation's boards with the organisation permission Projects: write, "
            "and the boards of a user never; the GITHUB_TOKEN of Actions reaches no board."
        )
        return Advice(permission, why, _CLASSIC_WAY_OUT)
    why = f"The GitHub App lacks the repository permission {permission}."
    return Advice(permission, why, f"grant {permission} to the App and accept the change in the organisation")
