"""Lets git sign in with the token of the GitHub it talks to, for one command: the secret is in its environment only."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from agent_sync.errors import AgentSyncError
from agent_sync.gateway.transport.address import Endpoint, address_of, is_loopback, site_of_remote
from agent_sync.gateway.transport.token import find_token

if TYPE_CHECKING:
    from agent_sync.context import Context

# Named like a secret, so that it is masked wherever it could be shown.
SECRET = "GIT_HTTP_TOKEN"  # noqa: S105  # the name of a variable
_COUNT = "GIT_CONFIG_COUNT"
_HELPER = f'!f() {{ test "$1" = get && echo username=x-access-token && echo "password=${SECRET}"; }}; f'


def git_variables(context: "Context", address: str) -> Mapping[str, str]:
    """Return what lets git sign in at an address; nothing for a server that the token is not meant for."""
    try:
        parts = urlsplit(address)
        _, endpoint = address_of(context)
        if not _is_server_of(parts, endpoint):
            return {}
        root, environment = context.place.root, context.environment
        token = find_token(endpoint, environment, context.processes, directory=root, for_git=True)
    except (AgentSyncError, ValueError):
        # Whoever asks GitHub says what is wrong with the address or the token; git says that nobody is signed in.
        return {}
    authority = parts.netloc.rpartition("@")[2]
    return _configured(context.environment, f"credential.{parts.scheme}://{authority}.helper") | {SECRET: token.secret}


def _is_server_of(parts: SplitResult, endpoint: Endpoint) -> bool:
    """Tell whether an address is on the very server that the token is for, over a line nobody listens on."""
    host = (parts.hostname or "").lower()
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        return False
    if endpoint.is_cloud:
        return parts.scheme == "https" and parts.port in {None, 443} and site_of_remote(host) == endpoint.host
    return parts.netloc.rpartition("@")[2].lower() == urlsplit(endpoint.rest).netloc.lower()


def _configured(environment: Mapping[str, str], key: str) -> dict[str, str]:
    """Return configuration for one command: no other helper, which might keep the token, and then ours."""
    told = environment.get(_COUNT, "")
    first = int(told) if told.isascii() and told.isdigit() else 0
    entries = [(key, ""), (key, _HELPER)]
    found = {_COUNT: str(first + len(entries))}
    for number, (name, value) in enumerate(entries, start=first):
        found |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return found
