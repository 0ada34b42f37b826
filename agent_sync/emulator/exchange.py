"""Requests and answers as the views see them, free of any server library."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import IO, Any

JSON = "application/json; charset=utf-8"
ENTERPRISE_REST = "/api/v3"
ENTERPRISE_GRAPHQL = "/api/graphql"
DOCUMENTATION = "https://docs.github.com/rest"


@dataclass(frozen=True)
class Links:
    """The two roots every URL in an answer starts with, taken from how the server was addressed."""

    api: str
    web: str


@dataclass(frozen=True)
class Asked:
    """One request; `path` is as sent, `plain_path` without the prefix an Enterprise server has."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: IO[bytes]
    raw_query: str = ""
    scheme: str = "http"

    @property
    def plain_path(self) -> str:
        """Return the path as it would be on github.com."""
        if self.path == ENTERPRISE_GRAPHQL:
            return "/graphql"
        if self.path == ENTERPRISE_REST or self.path.startswith(ENTERPRISE_REST + "/"):
            return self.path.removeprefix(ENTERPRISE_REST) or "/"
        return self.path

    @property
    def links(self) -> Links:
        """Return the roots of URLs, as this request's host and prefix demand."""
        host = self.headers.get("host", "127.0.0.1")
        scheme = "https" if host == "api.github.com" else self.scheme
        if host.startswith("api."):
            return Links(f"{scheme}://{host}", f"{scheme}://{host.removeprefix('api.')}")
        web = f"{scheme}://{host}"
        return Links(web + ENTERPRISE_REST if self.plain_path != self.path else web, web)

    def json(self) -> Any:
        """Return the body as JSON; an empty body is an empty object."""
        self.body.seek(0)
        text = self.body.read()
        return json.loads(text) if text.strip() else {}


@dataclass(frozen=True)
class Answer:
    """One answer, ready to be sent."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    def with_headers(self, **headers: str) -> "Answer":
        """Return the answer with more headers; underscores stand for hyphens."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **more})


def json_answer(status: int, value: Any, **headers: str) -> Answer:
    """Answer with a JSON value."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Answer(status, body, {"content-type": JSON}).with_headers(**headers)


def text_answer(status: int, text: str, **headers: str) -> Answer:
    """Answer with plain text."""
    return Answer(status, text.encode(), {"content-type": "text/plain; charset=utf-8"}).with_headers(**headers)


def error_answer(status: int, message: str, **more: Any) -> Answer:
    """Answer with the error body all of GitHub's REST interface uses."""
    return json_answer(status, {"message": message, **more, "documentation_url": DOCUMENTATION, "status": str(status)})


def conditional(asked: Asked, answer: Answer) -> Answer:
    """Give a readable answer its ETag, and shorten it to 304 if the caller knows it already."""
    if asked.method != "GET" or answer.status != HTTPStatus.OK:
        return answer
    tag = f'W/"{hashlib.sha256(answer.body).hexdigest()}"'
    tagged = answer.with_headers(etag=tag, cache_control="private, max-age=60, s-maxage=60")
    known = [entry.strip() for entry in asked.headers.get("if-none-match", "").split(",")]
    plain = tag.removeprefix("W/")
    if tag in known or plain in known:
        return replace(tagged, status=HTTPStatus.NOT_MODIFIED, body=b"")
    return tagged
