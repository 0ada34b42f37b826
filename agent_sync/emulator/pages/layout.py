"""What every page has: head, way back, main part, and the small pieces they share."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from agent_sync.emulator.pages.markup import Content, Html, joined, link, tag
from agent_sync.emulator.world.boards import Project
from agent_sync.emulator.world.conversations import Conversation, Label
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.repositories import Repository

ASSETS = "/_pages/"


@dataclass(frozen=True)
class Page:
    """One page: its title, the pages above it with their names, and what it shows."""

    title: str
    above: tuple[tuple[str, str], ...]
    main: tuple[Html, ...]


def document(page: Page) -> str:
    """Return a page as a whole HTML document."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{page.title} · local GitHub"),
        tag("link", rel="stylesheet", href=f"{ASSETS}style.css"),
        tag("link", rel="icon", href=f"{ASSETS}icon.svg", type="image/svg+xml"),
    )
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#main", class_="skip"),
        tag("header", _way(page.above)),
        tag("main", *page.main, id="main", tabindex="-1"),
        tag(
            "footer", tag("p", "The local GitHub of agent-sync, on this machine only. Reload to see what has changed.")
        ),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, body, lang="en").text + "\n"


def _way(above: tuple[tuple[str, str], ...]) -> Html:
    steps = (("/", "local GitHub"), *above)
    return tag("nav", tag("ol", *(tag("li", link(path, name)) for path, name in steps)), aria_label="Where you are")


def section(heading: str, *content: Content, id_: str | None = None) -> Html:
    """Return a part of a page under a heading."""
    name = id_ or heading.lower().replace(" ", "-")
    return tag("section", tag("h2", heading, id=name), *content, aria_labelledby=name)


def listed(rows: Iterable[Html], *, nothing: str) -> Html:
    """Return rows as a list, or a sentence if there are none."""
    items = [tag("li", row) for row in rows]
    return tag("ul", *items, class_="rows") if items else tag("p", nothing, class_="dim")


def facts(pairs: Iterable[tuple[str, Content | None]]) -> Html:
    """Return names and values; a value of None is left out."""
    shown = [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs if value is not None]
    return tag("dl", *shown, class_="facts")


def moment(when: datetime) -> Html:
    """Return a point in time as people read it."""
    return tag("time", when.strftime("%d %b %Y, %H:%M UTC").lstrip("0"), datetime=timestamp(when))


def badge(kind: str, glyph: str, word: str) -> Html:
    """Return a state as a glyph and a word; the colour says nothing that they do not."""
    return tag("span", tag("span", glyph, aria_hidden="true"), f" {word}", class_=f"badge {kind}")


def state_badge(entry: Conversation) -> Html:
    """Return how an issue or pull request stands."""
    if isinstance(entry, PullRequest):
        if entry.merged:
            return badge("waiting", "⇄", "Merged")
        if entry.draft and entry.is_open:
            return badge("dim", "◌", "Draft")
    if entry.is_open:
        return badge("good", "○", "Open")
    reason = (getattr(entry, "state_reason", None) or "").replace("_", " ")
    return badge("waiting", "✓", f"Closed as {reason}" if reason else "Closed")


def people(users: Iterable[User]) -> str | None:
    """Return who it is, or None for nobody."""
    return ", ".join(user.login for user in users) or None


def pills(labels: Iterable[Label]) -> Html | None:
    """Return labels, or None if there are none."""
    shown = [tag("span", label.name, class_="pill") for label in labels]
    return joined(shown, " ") if shown else None


def repository_path(repository: Repository) -> str:
    """Return the path of a repository's page."""
    return f"/{quote(repository.owner.login)}/{quote(repository.name)}"


def conversation_path(entry: Conversation) -> str:
    """Return the path of an issue's or pull request's page."""
    kind = "pull" if isinstance(entry, PullRequest) else "issues"
    return f"{repository_path(entry.repository)}/{kind}/{entry.number}"


def board_path(project: Project) -> str:
    """Return the path of a board's page."""
    kind = "orgs" if project.owner.is_organization else "users"
    return f"/{kind}/{quote(project.owner.login)}/projects/{project.number}"


def conversation_link(entry: Conversation) -> Html:
    """Return a link to an issue or pull request with number and title."""
    number = tag("span", f"#{entry.number}", class_="number")
    return link(conversation_path(entry), number, " ", tag("bdi", entry.title))


def repository_above(repository: Repository) -> tuple[tuple[str, str], ...]:
    """Return the way to a repository."""
    return ((repository_path(repository), repository.full_name),)
