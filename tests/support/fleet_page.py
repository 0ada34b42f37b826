"""The page of the fleet as a process: `agent-sync ui`, asked over HTTP as a browser would."""

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from agent_sync.demo.stage import Stage


@dataclass
class FleetPage:
    """One running page: its link, and what a browser that came by it may ask."""

    process: subprocess.Popen[str]
    link: str
    cookie: str = ""
    place: str = ""
    lines: list[http.client.HTTPConnection | http.client.HTTPResponse] = field(default_factory=list)

    @property
    def port(self) -> int:
        """The port it listens at."""
        return urlsplit(self.link).port or 0

    def ask(
        self, path: str, *, method: str = "GET", body: str | None = None, headers: dict[str, str] | None = None
    ) -> http.client.HTTPResponse:
        """Send one request to the server; the answer can be read."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        line.request(method, path, body, {"Cookie": self.cookie} | (headers or {}))
        answer = line.getresponse()
        self.lines += [answer, line]
        return answer

    def enter(self) -> None:
        """Follow the link: take the cookie, and learn where the page is."""
        parts = urlsplit(self.link)
        answer = self.ask(f"{parts.path}?{parts.query}")
        assert answer.status == http.HTTPStatus.OK, answer.read()
        self.cookie = (answer.headers["Set-Cookie"] or "").partition(";")[0]
        self.place = answer.read().decode().partition("url=")[2].partition('"')[0]

    def values(self, name: str) -> dict[str, Any]:
        """Return the JSON of one of its addresses."""
        answer = self.ask(self.place + name)
        text = answer.read()
        assert answer.status == http.HTTPStatus.OK, text
        return dict(json.loads(text))

    def stop(self) -> int:
        """Interrupt it; return how it ended."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


@contextmanager
def fleet_page(stage: Stage, *options: str) -> Iterator[FleetPage]:
    """Start the page for the clone of a stage, and end it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "agent_sync", "ui", "--no-open", *options],
        cwd=stage.root, env=stage.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    page = FleetPage(process, "")
    try:
        assert process.stdout
        assert process.stderr
        page.link = process.stdout.readline().strip()
        assert page.link.startswith("http://127.0.0.1:"), process.stderr.read()
        yield page
    finally:
        for line in page.lines:
            line.close()
        process.kill()
        process.communicate()
