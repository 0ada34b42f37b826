"""Finds the token for one GitHub, and gives no GitHub a token that is meant for another."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_sync.errors import NotSignedIn
from agent_sync.gateway.transport.endpoint import Endpoint, NamedBy
from agent_sync.gateway.transport.tokens import TokenKind, kind_of
from agent_sync.system.processes import Processes

CLOUD_NAMES = ("GH_TOKEN", "GITHUB_TOKEN")
ENTERPRISE_NAMES = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
GH_LIMIT_S = 10.0
# The local GitHub takes any token; this one makes it work without set-up.
PLACEHOLDER = "local"


@dataclass(frozen=True)
class Token:
    """A token that shows itself to nobody, and where it was found."""

    secret: str = field(repr=False)
    source: str = field(default="", compare=False)

    @property
    def kind(self) -> TokenKind:
        """What kind it is."""
        return kind_of(self.secret)


def find_token(endpoint: Endpoint, environment: Mapping[str, str], processes: Processes, *, directory: str) -> Token:
    """Return the token for this GitHub: from the environment, else from gh."""
    if endpoint.is_loopback and endpoint.named_by is NamedBy.REPOSITORY:
        # Any program on this machine can listen there, and the one that is meant needs no secret.
        return Token(PLACEHOLDER, "the local GitHub, which takes any")
    names = _names(endpoint)
    for name in names:
        if environment.get(name, "").strip():
            return _clean(environment[name].strip(), source=name)
    if endpoint.is_loopback:
        return Token(PLACEHOLDER, "the local GitHub, which takes any")
    found = _from_gh(endpoint, environment, processes, directory)
    if found:
        return _clean(found, source="gh auth token")
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
