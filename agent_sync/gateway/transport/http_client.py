"""The HTTP client: `http.client` of the standard library, which keeps connections, and the proxy that is in the way."""

import time
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from agent_sync import __version__
from agent_sync.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from agent_sync.gateway.transport.proxies import Proxy

# A server may close what was idle for longer, just when the next request goes out.
MOST_IDLE_S = 5.0
_PIECE = 64 * 1024
_GZIP = 31  # what zlib calls a gzip header with the largest window
# What a request can fail with; of these `NotSentError` says that certainly nothing has happened.
FAILURES = (OSError, HTTPException, ValueError)


class NotSentError(OSError):
    """No connection came about, so nothing of the request has left this machine."""


@dataclass(frozen=True)
class HttpAnswer:
    """What came back: status, headers by their names in small letters, and the body."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_error(self) -> bool:
        """Whether the server calls it an error."""
        return self.status >= 400  # noqa: PLR2004  # client and server errors

    @property
    def text(self) -> str:
        """The body as its header says it is written."""
        charset = self.headers.get("content-type", "").lower().partition("charset=")[2].partition(";")[0].strip(' "')
        try:
            return self.content.decode(charset or "utf-8", errors="replace")
        except LookupError:
            return self.content.decode(errors="replace")


class HttpClient:
    """Requests to one address; connections are made when needed, kept for the next, and followed nowhere else."""

    def __init__(self, address: str, *, timeout_s: float, is_direct: bool) -> None:
        self._parts = urlsplit(address)
        self._timeout_s = timeout_s
        self._is_direct = is_direct
        # Whoever takes one from the list has it alone.
        self._idle: list[tuple[HTTPConnection, float]] = []

    def send(self, method: str, headers: Mapping[str, str], body: bytes | None = None, *, most: int = 0) -> HttpAnswer:
        """Send one request and read its answer, of a body longer than `most` the end."""
        connection = self._connection()
        named = {"Accept": "*/*", "Accept-Encoding": "gzip", "User-Agent": f"agent-sync/{__version__}", **headers}
        try:
            # A server may refuse before it has read everything; its answer says why.
            with suppress(BrokenPipeError):
                connection.request(method, _target(self._parts), body, named)
            answer = _read_answer(connection, most)
        except BaseException:
            connection.close()
            raise
        self._idle.append((connection, time.monotonic()))
        return answer

    def close(self) -> None:
        """Close what is open."""
        while self._idle:
            self._idle.pop()[0].close()

    def _connection(self) -> HTTPConnection:
        """Return a connection that is open: one that was kept and still is, or a new one."""
        while self._idle:
            kept, since = self._idle.pop()
            if time.monotonic() - since < MOST_IDLE_S and _is_quiet(kept):
                return kept
            kept.close()
        try:
            return _opened(_made(self._parts, None if self._is_direct else self._proxy(), self._timeout_s))
        except FAILURES as error:
            raise NotSentError(str(error) or type(error).__name__) from error

    def _proxy(self) -> "Proxy | None":
        from agent_sync.gateway.transport.proxies import proxy_for

        return proxy_for(self._parts)


def _made(parts: SplitResult, proxy: "Proxy | None", timeout_s: float) -> HTTPConnection:
    """Return a connection to a server, with whoever has to be believed on the way."""
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "http":
        return HTTPConnection(host, port, timeout=timeout_s)
    from agent_sync.gateway.transport.certificates import https_context

    if proxy is None:
        return HTTPSConnection(host, port, timeout=timeout_s, context=https_context())
    made = proxy.connection(timeout_s)
    made.set_tunnel(host, port or 443, dict(proxy.headers))
    return made


def _opened(connection: HTTPConnection) -> HTTPConnection:
    try:
        connection.connect()
    except BaseException:
        connection.close()
        raise
    return connection


def _read_answer(connection: HTTPConnection, most: int) -> HttpAnswer:
    with connection.getresponse() as response:
        content = _tail(response, most) if most else response.read()
        found = _headers(response)
    if found.get("content-encoding", "").strip().lower() == "gzip":
        content = _unpacked(content)
    return HttpAnswer(response.status, found, content)


def _tail(response: HTTPResponse, most: int) -> bytes:
    """Return the end of a body, however long it is."""
    tail = b""
    while piece := response.read(_PIECE):
        tail = (tail + piece)[-most:]
    if response.length:
        raise IncompleteRead(tail, response.length)
    return tail


def _headers(response: HTTPResponse) -> dict[str, str]:
    """Return the headers; those that came twice as one, in their order."""
    found: dict[str, str] = {}
    for name, value in response.getheaders():
        key = name.lower()
        found[key] = f"{found[key]}, {value}" if key in found else value
    return found


def _unpacked(content: bytes) -> bytes:
    import zlib

    try:
        return zlib.decompress(content, _GZIP)
    except zlib.error as error:
        raise HTTPException(f"the answer cannot be unpacked: {error}") from None


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _is_quiet(connection: HTTPConnection) -> bool:
    """Tell whether a kept connection is still open: one that was closed by the other side has something to read."""
    if connection.sock is None:
        return False
    import select

    waiting = select.poll()
    waiting.register(connection.sock, select.POLLIN)
    return not waiting.poll(0)
