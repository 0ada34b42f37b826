"""Which proxy stands between this machine and a server, as the environment or the system says, and the way through."""

import base64
import socket
import ssl
import sys
from collections.abc import Mapping
from http.client import HTTPSConnection
from urllib.parse import SplitResult, unquote, urlsplit

from agent_sync.gateway.transport.certificates import https_context, plain_https_context
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.settings import environment

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Proxy:
    """One proxy: where it listens, whether that is reached by TLS, and what it is told about who we are."""

    host: str
    port: int
    is_tls: bool
    headers: Mapping[str, str]

    def connection(self, timeout_s: float) -> HTTPSConnection:
        """Return a connection to a server behind it, which is still to be named."""
        kind = _WithinTls if self.is_tls else HTTPSConnection
        return kind(self.host, self.port, timeout=timeout_s, context=https_context())


def proxy_for(parts: SplitResult) -> Proxy | None:
    """Return the proxy for an address; None where there is none, or where it is to be passed by."""
    if sys.platform != "darwin" and not any(name.lower().endswith("_proxy") for name in environment()):
        return None
    # Knows the variables in both spellings, which of them not to believe in a CGI, and what macOS has set up.
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    if not named or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return _proxy_at(named if "://" in named else f"http://{named}")


def _proxy_at(address: str) -> Proxy:
    parts = urlsplit(address)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"a proxy of the kind {parts.scheme or 'that is named'} is not supported; use http or https")
    return Proxy(parts.hostname, parts.port or _PORTS[parts.scheme], parts.scheme == "https", _signed_in(parts))


def _signed_in(parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


class _WithinTls(HTTPSConnection):
    """Reaches a server by TLS within the TLS that leads to the proxy."""

    # What http.client keeps of `set_tunnel`.
    _tunnel_host: str

    def connect(self) -> None:
        """Connect to the proxy, have it connect to the server, and begin TLS with that."""
        from urllib3.util.ssltransport import SSLTransport

        plain = socket.create_connection((self.host, self.port), self.timeout)
        self.sock: ssl.SSLSocket | SSLTransport = https_context().wrap_socket(plain, server_hostname=self.host)
        self._tunnel()  # type: ignore[attr-defined]  # the one way to it, which urllib3 takes too
        self.sock = SSLTransport(self.sock, plain_https_context(), server_hostname=self._tunnel_host)
