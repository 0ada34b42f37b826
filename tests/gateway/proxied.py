"""A proxy on loopback that stands for whatever server it is asked to connect to, over real TLS."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from authority import Authority


class Failure(Enum):
    """What a server does instead of answering."""

    HANG_UP = auto()
    SILENCE = auto()
    CUT_SHORT = auto()


@dataclass(frozen=True)
class HttpReply:
    """One answer as it goes over the wire."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


# Is given the method, the path, the headers and the body of a request.
Answering = Callable[[str, str, dict[str, str], bytes], HttpReply | Failure]


@dataclass
class ProxiedServer:
    """The proxy and the server behind it: where it listens, what it was told, and how it answers."""

    url: str = ""
    answering: Answering = lambda *_: HttpReply(500)
    # What CONNECT is answered with, and what it was asked: address and headers.
    connect_status: int = 200
    tunnels: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    # Whether it closes the connection after every answer, without a word about it.
    is_curt: bool = False
    ended: threading.Event = field(default_factory=threading.Event)


@contextmanager
def proxied_server(authority: Authority) -> Iterator[ProxiedServer]:
    """Serve for as long as the block lasts."""
    proxied = ProxiedServer()
    tls = authority.server_context()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:
            proxied.tunnels.append((self.path, _named(self.headers)))
            self.send_response(proxied.connect_status)
            self.end_headers()
            self.close_connection = proxied.connect_status != 200
            if not self.close_connection:
                self._begin_tls()

        def _begin_tls(self) -> None:
            self.connection = tls.wrap_socket(self.connection, server_side=True)
            self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)

        def finish(self) -> None:
            super().finish()
            # The socket below was given away when TLS began.
            self.connection.close()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            reply = proxied.answering(self.command, self.path, _named(self.headers), body)
            if isinstance(reply, Failure):
                self._fail(reply)
                return
            self._send(reply, len(reply.body))
            self.close_connection = proxied.is_curt

        do_GET = do_POST  # noqa: N815  # the library's name

        def _fail(self, failure: Failure) -> None:
            self.close_connection = True
            match failure:
                case Failure.HANG_UP:
                    pass
                case Failure.SILENCE:
                    proxied.ended.wait(20)
                case Failure.CUT_SHORT:
                    self._send(HttpReply(200, {}, b'{"data": {'), 100)

        def _send(self, reply: HttpReply, length: int) -> None:
            self.send_response_only(reply.status)
            for name, value in {"content-length": str(length), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxied.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield proxied
    finally:
        proxied.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def tls_before(proxied: ProxiedServer, authority: Authority) -> Iterator[str]:
    """Let the proxy be reached by TLS for one connection, at the address that is returned."""
    target = ("127.0.0.1", int(proxied.url.rpartition(":")[2]))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        arguments = (listening, authority.server_context(), target)
        thread = threading.Thread(target=_serve_tls, args=arguments, daemon=True)
        thread.start()
        yield f"https://localhost:{listening.getsockname()[1]}"
        thread.join(20)


def _serve_tls(listening: socket.socket, tls: ssl.SSLContext, target: tuple[str, int]) -> None:
    """Take one connection, which a client that does not believe the certificate ends at once."""
    with (
        contextlib.suppress(OSError),
        tls.wrap_socket(listening.accept()[0], server_side=True) as asked,
        socket.create_connection(target) as behind,
    ):
        back = threading.Thread(target=_relay, args=(behind, asked), daemon=True)
        back.start()
        _relay(asked, behind)
        back.join(20)


def _relay(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


def _named(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
