"""The HTTP client: httpx without its command line, and with a certificate store only where https is spoken."""

import ssl
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_sync.gateway.transport.address import is_loopback

if TYPE_CHECKING:
    import httpx
else:
    # httpx offers a command line wherever click and rich are installed; a module that is None counts as missing.
    sys.modules.setdefault("httpx._main", None)
    import httpx

    if sys.modules["httpx._main"] is None:
        del sys.modules["httpx._main"]

__all__ = ["httpx", "verification"]


def verification(address: str) -> ssl.SSLContext:
    """Return whom a connection believes; on plain HTTP to this machine, where nobody is asked, nobody."""
    parts = urlsplit(address)
    if parts.scheme == "http" and is_loopback(parts.hostname or ""):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    from agent_sync.gateway.transport.certificates import https_context

    return https_context()
