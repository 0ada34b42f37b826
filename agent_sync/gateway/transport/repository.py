"""Reads which repository a git remote is: pure, for every form of address git accepts."""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from agent_sync.errors import BadConfig

_SCHEMES = frozenset({"https", "http", "ssh", "git", "git+ssh", "ssh+git", "git+https", "git+http"})
# `[user@]host:path`, unless a slash comes before the colon: then git takes it for a path.
_SCP = re.compile(r"(?:[^@/]+@)?(?P<host>\[[^\]]+\]|[^:/@]+):(?P<path>.+)", re.DOTALL)
_HELPER = re.compile(r"[A-Za-z0-9]+::")
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
# Other names of the same place: port 443 for ssh, and the site's old name.
_ALIASES = {"ssh.github.com": "github.com", "www.github.com": "github.com", "altssh.github.com": "github.com"}


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
    found = _parsed(url.strip())
    if found is None:
        message = f"The address of remote {remote!r} ({_shown(url)}) names no GitHub repository."
        raise BadConfig(message, helps=f"git remote set-url {remote} https://github.com/OWNER/REPOSITORY.git")
    return found


def _parsed(url: str) -> Repository | None:
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


def _shown(url: str) -> str:
    """Return the address without user and password, which may be a token."""
    without = re.sub(r"(?<=://)[^/@]*@", "", url.strip())
    return "".join(char for char in without if char.isprintable())[:200]
