"""Which requests want a page, and the answers to them."""

import logging
import re
from importlib import resources

from agent_sync.emulator.exchange import Answer, Asked
from agent_sync.emulator.pages.board import board_page
from agent_sync.emulator.pages.conversation import issue_page, pull_page
from agent_sync.emulator.pages.layout import ASSETS, Page, conversation_path, document
from agent_sync.emulator.pages.lists import issues_page, pulls_page
from agent_sync.emulator.pages.markup import tag
from agent_sync.emulator.pages.repository import home_page, repository_page
from agent_sync.emulator.rest.dispatch import rest_operation
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.refusal import Refused, not_found
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

log = logging.getLogger(__name__)

HTML = "text/html"
# The pages show texts of anybody: they run no script, load nothing but our stylesheet, and no other page frames them.
SECURITY = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_FILES = {"style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}
_REPOSITORY = re.compile(
    r"/(?P<owner>[^/]+)/(?P<name>[^/]+?)(?:/(?P<kind>issues|pulls|pull)(?:/(?P<number>\d{1,9}))?)?/?"
)
_BOARD = re.compile(r"/(?P<kind>users|orgs)/(?P<owner>[^/]+)/projects/(?P<number>\d{1,9})(?:/views/\d+)?/?")


def page_answer(world: World, asked: Asked) -> Answer | None:
    """Return the page a request wants, or None if it is one for another interface."""
    if asked.method not in {"GET", "HEAD"} or not _takes_html(asked):
        return None
    if asked.path.startswith(ASSETS):
        return _file(asked.path.removeprefix(ASSETS))
    # Programs know the root and every path of the interface as JSON; only a browser asks for HTML by name.
    if rest_operation("GET", asked.plain_path) and not (asked.path == "/" and _names_html(asked)):
        return None
    with world.lock:
        try:
            found = _opened(world, asked)
        except Refused:
            return _missing() if _names_html(asked) else None
        except Exception:  # a mistake of this program must be seen, and not end the connection
            log.exception("the page %s failed", asked.path)
            return _answer(500, Page("Server error", (), (tag("h1", "This page could not be made"),)))
    return Answer(302, b"", {**SECURITY, "location": found}) if isinstance(found, str) else _answer(200, found)


def _opened(world: World, asked: Asked) -> Page | str:
    if asked.path == "/":
        return home_page(world)
    if match := _BOARD.fullmatch(asked.path):
        project = world.project(match["owner"], int(match["number"]))
        if project.owner.is_organization is not (match["kind"] == "orgs"):
            raise not_found()
        return board_page(project, asked)
    match = _REPOSITORY.fullmatch(asked.path)
    if match is None:
        raise not_found()
    repository = world.repository(match["owner"], match["name"])
    return _of_repository(world, repository, asked, match["kind"], match["number"])


def _of_repository(
    world: World, repository: Repository, asked: Asked, kind: str | None, number: str | None
) -> Page | str:
    match kind, number:
        case None, None:
            return repository_page(world, repository, asked)
        case "issues", None:
            return issues_page(repository, asked)
        case "pulls", None:
            return pulls_page(repository, asked)
        case "issues" | "pull", str():
            return _conversation(repository, kind, int(number))
        case _:
            raise not_found()


def _conversation(repository: Repository, kind: str, number: int) -> Page | str:
    """Return the page of a number; under the other kind's path it leads to the right one, as on GitHub."""
    match repository.conversations.get(number):
        case Issue() as issue:
            return issue_page(issue) if kind == "issues" else conversation_path(issue)
        case PullRequest() as pull:
            return pull_page(pull) if kind == "pull" else conversation_path(pull)
        case _:
            raise not_found()


def _takes_html(asked: Asked) -> bool:
    """Tell whether the sender can use a page; clients of the interface ask for JSON alone."""
    accepted = asked.headers.get("accept", "*/*")
    return any(kind in accepted for kind in (HTML, "text/*", "*/*", "text/css", "image/"))


def _names_html(asked: Asked) -> bool:
    return HTML in asked.headers.get("accept", "")


def _answer(status: int, page: Page) -> Answer:
    return Answer(status, document(page).encode(), {**SECURITY, "content-type": f"{HTML}; charset=utf-8"})


def _missing() -> Answer:
    lead = tag("p", "There is no such page here. The list of repositories and boards is one link up.", class_="lead")
    return _answer(404, Page("Not found", (), (tag("h1", "Not found"), lead)))


def _file(name: str) -> Answer | None:
    if name not in _FILES:
        return None
    content = resources.files("agent_sync.emulator.pages").joinpath(name).read_bytes()
    return Answer(200, content, {**SECURITY, "content-type": _FILES[name]})
