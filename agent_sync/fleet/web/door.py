"""Who may see the page: every request is checked here before any route, and every answer gets the security headers."""

import secrets
from dataclasses import field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any

from agent_sync.lazy_dataclasses import dataclass

ENTER = "/enter"
LINK = "Open the link that `agent-sync ui` printed."
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
# No page of ours has a longer one, and a number of thousands of digits cannot be read.
LONGEST_PATH = 200
_READING = frozenset({"GET", "HEAD"})


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class DoorKeys:
    """The secrets of one server, made anew at every start: the link's token, the page's path and the cookie."""

    port: int
    token: str = field(default_factory=_secret)
    path: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    cookie: str = field(default_factory=_secret)
    # Sent with every action: what another site posts does not know it.
    action_key: str = field(default_factory=_secret)
    has_actions: bool = False

    @property
    def prefix(self) -> str:
        """The path below which everything is; the cookie is sent nowhere else, not even to other ports."""
        return f"/{self.path}/"

    @property
    def link(self) -> str:
        """What a person opens; it works as long as the server runs."""
        return f"http://127.0.0.1:{self.port}{ENTER}?token={self.token}"

    @property
    def cookie_name(self) -> str:
        """One name for each port: cookies of one host are shared by its ports."""
        return f"agent-sync-{self.port}"

    def set_cookie(self) -> str:
        """Return the header that lets a browser in."""
        return f"{self.cookie_name}={self.cookie}; Path={self.prefix}; HttpOnly; SameSite=Strict"


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered."""

    status: HTTPStatus
    text: str


def refusal(keys: DoorKeys, method: str, path: str, headers: dict[str, str]) -> Refusal | None:
    """Return why a request is refused; None lets it in."""
    host = headers.get("host", "")
    if host not in {f"127.0.0.1:{keys.port}", f"localhost:{keys.port}"}:
        return Refusal(HTTPStatus.MISDIRECTED_REQUEST, "This server has another name.")
    if headers.get("origin", f"http://{host}") != f"http://{host}":
        return Refusal(HTTPStatus.FORBIDDEN, "Requests of other sites are refused.")
    if path != ENTER and headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
        return Refusal(HTTPStatus.FORBIDDEN, "Requests of other sites are refused.")
    if path != ENTER and not secrets.compare_digest(_cookie(keys, headers), keys.cookie):
        return Refusal(HTTPStatus.FORBIDDEN, LINK)
    if path != ENTER and (not path.startswith(keys.prefix) or ".." in path or len(path) > LONGEST_PATH):
        return Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    return _method_refusal(keys, method, headers)


def _method_refusal(keys: DoorKeys, method: str, headers: dict[str, str]) -> Refusal | None:
    if method in _READING:
        return None
    if method != "POST" or not keys.has_actions:
        return Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "This page only shows.")
    is_json = headers.get("content-type", "").partition(";")[0].strip() == "application/json"
    is_ours = secrets.compare_digest(headers.get("x-agent-sync-key", "").encode(), keys.action_key.encode())
    if not is_json or not is_ours or "origin" not in headers:
        return Refusal(HTTPStatus.FORBIDDEN, "Only this page may act.")
    return None


def _cookie(keys: DoorKeys, headers: dict[str, str]) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(keys.cookie_name)
    except CookieError:
        return ""
    return found.value if found and found.value.isascii() else ""


class Door:
    """Wraps the application: what is refused never reaches a route, and no answer goes out without the headers."""

    def __init__(self, app: Any, keys: DoorKeys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = refusal(self.keys, scope["method"], scope["path"], headers)
        if refused:
            await _refuse(refused, send)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_encoded(HEADERS)]
            await send(message)

        await self.app(scope, receive, with_headers)


async def _refuse(refused: Refusal, send: Any) -> None:
    body = f"{refused.text}\n".encode()
    shown = HEADERS | {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
    await send({"type": "http.response.start", "status": refused.status.value, "headers": _encoded(shown)})
    await send({"type": "http.response.body", "body": body})


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]
