"""Where a GitHub's two interfaces are, for github.com, ghe.com, Enterprise servers and the local GitHub."""

import ipaddress
from dataclasses import dataclass, replace
from enum import Enum
from urllib.parse import urlsplit

from agent_sync.errors import BadConfig
from agent_sync.gateway.transport.repository import Repository

_API_PATHS = ("/api/v3", "/api/graphql", "/api")


class NamedBy(Enum):
    """Who says that this is the GitHub to talk to."""

    REMOTE = "the remote's address"
    REPOSITORY = "a file of the repository that the user approved"
    USER = "the user's own file or environment"


@dataclass(frozen=True)
class Endpoint:
    """One GitHub: the host people know it by, its interfaces, and who names it."""

    host: str
    rest: str
    graphql: str
    named_by: NamedBy = NamedBy.REMOTE

    @property
    def is_loopback(self) -> bool:
        """Whether it runs on this machine."""
        return is_loopback(self.host)

    @property
    def is_cloud(self) -> bool:
        """Whether GitHub itself runs it."""
        return self.host == "github.com" or self.host.endswith(".ghe.com")


def endpoint_of(repository: Repository, url: str, *, named_by: NamedBy = NamedBy.USER) -> Endpoint:
    """Return the GitHub of a repository; a configured server root, named by somebody, takes its place."""
    if url:
        return replace(_configured(url), named_by=named_by)
    host = repository.host
    if repository.is_plain and is_loopback(host):
        return _server("http", _authority(host, repository.port), host)
    if "." not in host and not is_loopback(host):
        message = f"The remote's host {host!r} is a name only this machine's ssh knows, so the GitHub is not known."
        raise BadConfig(message, helps="set AGENT_SYNC_GITHUB_URL=https://github.com")
    port = None if repository.is_plain else repository.port
    return _server("https", _authority(host, port), host)


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine."""
    # Names below `localhost` are left out: not every resolver keeps them on this machine.
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _configured(url: str) -> Endpoint:
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise _bad(url, "is not an address") from None
    host = (parts.hostname or "").lower()
    path = parts.path.rstrip("/")
    if parts.scheme not in {"http", "https"} or not host or parts.query or parts.username:
        raise _bad(url, "is not the root of a server, as in https://github.example.com")
    if path and path not in _API_PATHS:
        raise _bad(url, f"has a path ({path}); the root of the server is wanted")
    if parts.scheme == "http" and not is_loopback(host):
        raise _bad(url, "would send the token in the clear; use https")
    return _server(parts.scheme, _authority(host, port), _site_of(host))


def _site_of(host: str) -> str:
    """Return the site an interface's host belongs to."""
    return host.removeprefix("api.") if host == "api.github.com" or host.endswith(".ghe.com") else host


def _server(scheme: str, authority: str, host: str) -> Endpoint:
    if host == "github.com" or host.endswith(".ghe.com"):
        return Endpoint(host, f"https://api.{host}", f"https://api.{host}/graphql")
    root = f"{scheme}://{authority}"
    return Endpoint(host, f"{root}/api/v3", f"{root}/api/graphql")


def _authority(host: str, port: int | None) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{port}" if port else shown


def _bad(url: str, what: str) -> BadConfig:
    shown = url.rpartition("@")[2][:200]
    return BadConfig(f"github.url ({shown}) {what}.", helps="correct AGENT_SYNC_GITHUB_URL or .agent-sync.toml")
