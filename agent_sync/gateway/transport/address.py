"""Which repository a worktree is about, and on which GitHub: github.com, an Enterprise server or the local one."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from agent_sync.errors import BadConfig
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.settings import Origin

if TYPE_CHECKING:
    from agent_sync.context import Context
    from agent_sync.system.processes import Processes

_SCHEMES = frozenset({"https", "http", "ssh", "git", "git+ssh", "ssh+git", "git+https", "git+http"})
# `[user@]host:path`, unless a slash comes before the colon: then git takes it for a path.
_SCP = pattern(r"(?:[^@/]+@)?(?P<host>\[[^\]]+\]|[^:/@]+):(?P<path>.+)", re.DOTALL)
_HELPER = pattern(r"[A-Za-z0-9]+::")
_OWNER = pattern(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_NAME = pattern(r"[A-Za-z0-9._-]+")
# Other names of the same place: port 443 for ssh, and the site's old name.
_ALIASES = {"ssh.github.com": "github.com", "www.github.com": "github.com", "altssh.github.com": "github.com"}


_NAMED = pattern(rf"{_OWNER.pattern}/{_NAME.pattern}")
_HOST = pattern(r"[a-z0-9][a-z0-9._-]*")
SSH_LIMIT_S = 5.0
# What ssh said in this process; its configuration does not change under a command.
_SSH_HOSTS: dict[str, str] = {}
_API_PATHS = ("/api/v3", "/api/graphql", "/api")


@dataclass(frozen=True)
class Repository:
    """Where a repository is; `port` only where it is that of a web server, `is_plain` where that speaks http."""

    host: str
    owner: str
    name: str
    port: int | None = None
    is_plain: bool = False

    @property
    def full_name(self) -> str:
        """Owner and name, as people write it."""
        return f"{self.owner}/{self.name}"


def repository_of(url: str | None, *, remote: str) -> Repository:
    """Return the repository a remote's address names; what cannot be known is never guessed."""
    if not url:
        message = f"Git knows no remote {remote!r}, so the GitHub repository is not known."
        raise BadConfig(message, helps=f"git remote add {remote} https://github.com/OWNER/REPOSITORY.git")
    found = _parse_address(url.strip())
    if found is None:
        message = f"The address of remote {remote!r} ({_without_credentials(url)}) names no GitHub repository."
        raise BadConfig(message, helps=_naming_help(url, remote))
    return found


def _naming_help(url: str, remote: str) -> str:
    """Return how a repository is named; the address of a proxy on this machine is better left as it is."""
    named = "export GH_REPO=OWNER/REPOSITORY, or set github.repository in your settings"
    try:
        is_proxy = is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        is_proxy = False
    return named if is_proxy else f"{named}, or git remote set-url {remote} https://github.com/OWNER/REPOSITORY.git"


def _parse_address(url: str) -> Repository | None:
    if not url.isprintable():
        return None
    if "://" in url:
        return _from_url(url)
    scp = None if _HELPER.match(url) else _SCP.fullmatch(url)
    # One letter before the colon is a drive, not a host.
    if scp is None or scp.start("path") == len("C:"):
        return None
    return _repository(scp["host"].strip("[]"), scp["path"])


def _from_url(url: str) -> Repository | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in _SCHEMES or not parts.hostname:
        return None
    is_web = "http" in parts.scheme.lower()
    return _repository(parts.hostname, parts.path, port=port if is_web else None, is_plain=_is_plain(parts))


def _is_plain(parts: SplitResult) -> bool:
    return parts.scheme.lower() in {"http", "git+http"}


def _repository(host: str, path: str, *, port: int | None = None, is_plain: bool = False) -> Repository | None:
    host = host.lower().rstrip(".")
    steps = unquote(path).strip("/").split("/")
    if len(steps) != 2 or host.startswith("gist."):  # noqa: PLR2004  # owner and name, nothing else
        return None
    owner, name = steps[0], steps[1].removesuffix(".git")
    if not _OWNER.fullmatch(owner) or not _NAME.fullmatch(name) or name in {".", ".."}:
        return None
    return Repository(_ALIASES.get(host, host), owner, name, port, is_plain)


def _without_credentials(url: str) -> str:
    """Return the address without user and password, which may be a token."""
    without = re.sub(r"(?<=://)[^/@]*@", "", url.strip())
    return "".join(char for char in without if char.isprintable())[:200]


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
        return replace(_configured_endpoint(url), named_by=named_by)
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


def _configured_endpoint(url: str) -> Endpoint:
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


def site_of_remote(host: str) -> str:
    """Return the site that a remote's host is a name of."""
    return _ALIASES.get(host, host)


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


def address_of(context: "Context") -> tuple[Repository, Endpoint]:
    """Return which repository a worktree is about, and on which GitHub."""
    repository = _repository_here(context)
    is_theirs = context.origins.get("github.url") is Origin.REPOSITORY
    named_by = NamedBy.REPOSITORY if is_theirs else NamedBy.USER
    return repository, endpoint_of(repository, context.settings.github.url, named_by=named_by)


def full_name_in(url: str | None) -> str:
    """Return the repository that a remote's address names, as people write it; "" where it names none."""
    found = _parse_address(url.strip()) if url else None
    return found.full_name if found else ""


def sibling_address(url: str, full_name: str) -> str:
    """Return the address of another repository on the same server, reached in the same way; "" where none follows."""
    known = full_name_in(url)
    lead, found, rest = url.rpartition(known) if known else ("", "", "")
    return f"{lead}{full_name}{rest}" if found and _NAMED.fullmatch(full_name) else ""


def _repository_here(context: "Context") -> Repository:
    """Return the repository that settings or gh name, else the remote; GH_REPO where its address names none."""
    remote, named = context.remotes.base, context.remotes.named
    url = (context.git.remote_url(remote) or "").strip()
    found = _parse_address(url) if url else None
    if found and _is_ssh(url):
        found = replace(found, host=site_of_remote(ssh_host(found.host, context.processes, context.environment)))
    if named:
        return _named(named, found.host if found and not is_loopback(found.host) else "github.com")
    fallback = context.environment.get("GH_REPO", "").strip()
    if found is None and fallback:
        return _named(fallback, "github.com")
    return found or repository_of(url, remote=remote)


def _named(text: str, host: str) -> Repository:
    """Return the repository of `owner/name` or `host/owner/name`."""
    steps = text.strip("/").split("/")
    own_host = steps.pop(0) if len(steps) == 3 else host  # noqa: PLR2004  # host, owner and name
    found = _repository(own_host, "/".join(steps))
    if found is None:
        message = f"{text[:200]!r} is not a repository, as in owner/name."
        raise BadConfig(message, helps="correct github.repository in the settings, or GH_REPO")
    return found


def _is_ssh(url: str) -> bool:
    return "ssh" in url.partition("://")[0].lower() if "://" in url else True


def ssh_host(host: str, processes: "Processes", environment: Mapping[str, str]) -> str:
    """Return the host that ssh really connects to under a name, as the user's configuration says; asked once."""
    if host in _ALIASES or host == "github.com" or not _HOST.fullmatch(host):
        return host
    if host not in _SSH_HOSTS:
        _SSH_HOSTS[host] = _asked_ssh(host, processes, environment) or host
    return _SSH_HOSTS[host]


def _asked_ssh(host: str, processes: "Processes", environment: Mapping[str, str]) -> str:
    try:
        asked = processes.run(["ssh", "-G", host], directory="/", environment=environment, timeout=SSH_LIMIT_S)
    except (OSError, TimeoutError):
        return ""
    lines = (line.partition(" ") for line in asked.stdout.splitlines())
    return next((value.strip().lower() for key, _, value in lines if key == "hostname"), "")
