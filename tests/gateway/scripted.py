"""A loopback HTTP server that answers REST as GitHub documents it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GRAPHQL = '{"data": {"viewer": {"login": "octo", "id": "U_1"}}}'
Reply = tuple[int, dict[str, str], str] | str


@dataclass
class Script:
    """What each path is answered with, in order, the last answer staying; and what was asked."""

    url: str = ""
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    def given(self, path: str, *replies: Reply) -> None:
        """Say what a path is answered with; the word `drop` closes the connection instead."""
        self.replies[path] = list(replies)

    def paths(self) -> list[str]:
        """Return the paths asked for."""
        return [path for _, path, _ in self.asked]

    def reply_to(self, method: str, path: str, headers: dict[str, str]) -> Reply:
        """Note a request and return its answer."""
        self.asked.append((method, path, headers))
        if path == "/api/graphql" and path not in self.replies:
            return 200, {}, GRAPHQL
        waiting = self.replies.get(path, [(404, {}, '{"message": "Not Found"}')])
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]


@contextmanager
def scripted() -> Iterator[Script]:
    """Serve a script for as long as the block lasts."""
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = script.reply_to(self.command, self.path, headers)
            if isinstance(reply, str):
                self.close_connection = True
                return
            status, more, body = reply
            self.send_response(status)
            for name, value in (
                {"content-type": "application/json", "content-length": str(len(body.encode()))} | more
            ).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        do_POST = do_GET  # noqa: N815  # the library's name

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
