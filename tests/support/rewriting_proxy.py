"""A proxy on loopback before the local GitHub, which may change what is asked and what is answered."""

import contextlib
import http.client
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_OF_THE_CONNECTION = frozenset({"connection", "transfer-encoding", "content-length", "host", "keep-alive"})


@dataclass
class RewritingProxy:
    """The proxy: where it listens, and how it changes paths and answers."""

    url: str = ""
    change_path: Callable[[str], str] | None = None
    change_headers: Callable[[dict[str, str]], dict[str, str]] | None = None
    # What is answered to a request in the server's place, if anything.
    answer_for: Callable[[bytes], bytes | None] | None = None
    paths: list[str] = field(default_factory=list)


@contextlib.contextmanager
def rewriting_proxy(target: str) -> Iterator[RewritingProxy]:
    """Stand between a client and the server at `target`."""
    proxy, where = RewritingProxy(), urlsplit(target)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _forward(self) -> None:
            asked = self._body()
            proxy.paths.append(self.path)
            invented = proxy.answer_for(asked) if proxy.answer_for else None
            if invented is not None:
                self._reply(200, {"Content-Type": "application/json"}, invented)
                return
            path = proxy.change_path(self.path) if proxy.change_path else self.path
            connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
            kept = {name: value for name, value in self.headers.items() if name.lower() not in _OF_THE_CONNECTION}
            with contextlib.closing(connection):
                connection.request(self.command, path, body=asked, headers=kept)
                found = connection.getresponse()
                headers, body = dict(found.getheaders()), found.read()
            self._reply(found.status, proxy.change_headers(headers) if proxy.change_headers else headers, body)

        def _body(self) -> bytes:
            if "chunked" not in self.headers.get("transfer-encoding", ""):
                return self.rfile.read(int(self.headers.get("content-length") or 0))
            chunks = []
            while size := int(self.rfile.readline().strip() or b"0", 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)

        def _reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in _OF_THE_CONNECTION:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    for method in ("GET", "POST", "PATCH", "PUT", "DELETE"):
        setattr(Handler, f"do_{method}", Handler._forward)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answering(text: bytes, body: bytes, *, times: int = 1) -> Callable[[bytes], bytes | None]:
    """Return what answers the first requests that hold a text in the server's place."""
    left = [times]

    def answer(asked: bytes) -> bytes | None:
        if text not in asked or not left[0]:
            return None
        left[0] -= 1
        return body

    return answer
