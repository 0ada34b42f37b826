"""Finds the token for one GitHub, and knows what each kind of token cannot do."""

import shlex
from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from agent_sync.errors import BadConfig, NotSignedIn
from agent_sync.gateway.transport.address import Endpoint, NamedBy
from agent_sync.gateway.transport.refusals import is_met
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system.processes import Processes

_CLASSIC_WAY_OUT = "export GH_TOKEN with a classic token that has the scopes repo and project"
CLOUD_NAMES = ("GH_TOKEN", "GITHUB_TOKEN")
# A second token for GitHub's interfaces, where git's own reaches no board: in Actions.
BOARD_NAME = "GH_BOARD_TOKEN"
ENTERPRISE_NAMES = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
GH_LIMIT_S = 10.0
_NO_GITHUB = ("gitlab.", "bitbucket.", "codeberg.org", "gitea.", "git.sr.ht", "ssh.dev.azure.com", "dev.azure.com")
# The local GitHub takes any token; this one makes it work without set-up.
PLACEHOLDER = "local"


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
class TokenAdvice:
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


def kind_of(token: str) -> TokenKind:
    """Return the kind of a token."""
    return next((kind for prefix, kind in PREFIXES.items() if token.startswith(prefix)), TokenKind.UNKNOWN)


def advice(kind: TokenKind, area: Area, needed: tuple[str, ...] = (), *, permission: str = "") -> TokenAdvice:
    """Return why a token may not reach a part of GitHub; `needed` scopes and `permission` are what GitHub named."""
    match kind:
        case TokenKind.CLASSIC | TokenKind.OAUTH | TokenKind.UNKNOWN:
            usual = _CLASSIC_SCOPES.get(area, "repo")
            return _for_classic(kind, usual if is_met(usual, needed) else needed[0])
        case TokenKind.FINE_GRAINED:
            return _for_fine_grained(area, permission)
        case TokenKind.APP:
            return _for_app(area, permission)


def _for_classic(kind: TokenKind, scope: str) -> TokenAdvice:
    why = f"The {kind.value} lacks the scope {scope}, or its owner may not do this."
    if kind is TokenKind.CLASSIC:
        return TokenAdvice(
            scope, why, f"add the scope {scope} to the token in GitHub's settings, under Tokens (classic)"
        )
    return TokenAdvice(scope, why, f"gh auth refresh --scopes {scope}")


def _for_fine_grained(area: Area, named: str) -> TokenAdvice:
    permission = named or _PERMISSIONS[area]
    if area is Area.CHECKS and not named:
        why = "A fine-grained token cannot read check runs: GitHub has no such permission for it."
        return TokenAdvice(permission, why, _CLASSIC_WAY_OUT)
    if area is Area.BOARD:
        why = (
            "A fine-grained token reaches an organisation's boards with the organisation permission Projects: write, "
            "and the boards of a user never."
        )
        return TokenAdvice(permission, why, _CLASSIC_WAY_OUT)
    why = f"The fine-grained token lacks the repository permission {permission}, or does not cover this repository."
    return TokenAdvice(permission, why, f"grant {permission} to the token in GitHub's settings, for this repository")


def _for_app(area: Area, named: str) -> TokenAdvice:
    permission = named or _PERMISSIONS[area]
    if area is Area.BOARD:
        why = (
            "A GitHub App token reaches an organisation's boards with the organisation permission Projects: write, "
            "and the boards of a user never; the GITHUB_TOKEN of Actions reaches no board."
        )
        return TokenAdvice(permission, why, _CLASSIC_WAY_OUT)
    why = f"The GitHub App lacks the repository permission {permission}."
    return TokenAdvice(permission, why, f"grant {permission} to the App and accept the change in the organisation")


@dataclass(frozen=True)
class Token:
    """A token that shows itself to nobody, and where it was found."""

    secret: str = field(repr=False)
    source: str = field(default="", compare=False)

    @property
    def kind(self) -> TokenKind:
        """What kind it is."""
        return kind_of(self.secret)


def find_token(
    endpoint: Endpoint, environment: Mapping[str, str], processes: Processes, *, directory: str, for_git: bool = False
) -> Token:
    """Return the token for this GitHub: from the environment, else from gh; the board's is not for git."""
    if endpoint.is_loopback and endpoint.named_by is NamedBy.REPOSITORY:
        # Any program on this machine can listen there, and the one that is meant needs no secret.
        return Token(PLACEHOLDER, "the local GitHub, which takes any")
    names = _names(endpoint)
    board = () if for_git or names != CLOUD_NAMES else (BOARD_NAME,)
    for name in (*board, *names):
        if environment.get(name, "").strip():
            return _clean(environment[name].strip(), source=name)
    if endpoint.is_loopback:
        return Token(PLACEHOLDER, "the local GitHub, which takes any")
    found = _from_gh(endpoint, environment, processes, directory)
    if found:
        return _clean(found, source="gh auth token")
    if endpoint.host.startswith(_NO_GITHUB):
        message = f"The remote is on {endpoint.host}, which is not a GitHub: agent-sync works with GitHub's issues."
        raise BadConfig(message, helps="git remote -v; set git.remote to a remote on GitHub, or GH_REPO to OWNER/NAME")
    raise NotSignedIn(
        f"There is no token for {endpoint.host}.",
        attempted=f"looking at {', '.join(names)} and `gh auth token`",
        helps=f"gh auth login --hostname {shlex.quote(endpoint.host)} --scopes repo,project",
    )


def _names(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the variables whose tokens may go there.

    A server that the user's own file or environment names is trusted with the plain ones; one that the remote or an
    approved file of the repository names gets only what is meant for Enterprise servers.
    """
    return CLOUD_NAMES if endpoint.is_cloud or endpoint.named_by is NamedBy.USER else ENTERPRISE_NAMES


def _from_gh(endpoint: Endpoint, environment: Mapping[str, str], processes: Processes, directory: str) -> str:
    kept = {name: value for name, value in environment.items() if endpoint.is_cloud or name not in CLOUD_NAMES}
    command = ["gh", "auth", "token", "--hostname", endpoint.host]
    try:
        asked = processes.run(command, directory=directory, environment=kept, timeout=GH_LIMIT_S)
    except (OSError, TimeoutError):
        return ""
    return asked.stdout.strip() if asked.status == 0 else ""


def _clean(text: str, *, source: str) -> Token:
    if not text.isascii() or not text.isprintable() or " " in text:
        raise NotSignedIn(f"What {source} holds is not a token.", helps=f"set {source} again, without spaces or quotes")
    return Token(text, source)
