"""The lists of a repository's issues and pull requests."""

from collections.abc import Sequence
from urllib.parse import urlencode

from agent_sync.emulator.exchange import Asked
from agent_sync.emulator.pages.layout import (
    Page,
    conversation_link,
    listed,
    people,
    pills,
    repository_above,
    repository_path,
    state_badge,
)
from agent_sync.emulator.pages.markup import Html, link, tag
from agent_sync.emulator.world.conversations import Conversation
from agent_sync.emulator.world.repositories import Repository

PAGE_SIZE = 50


def issues_page(repository: Repository, asked: Asked) -> Page:
    """Return the issues, open ones unless closed ones are asked for."""
    return _list_page(repository, asked, "Issues", "issues", repository.issues)


def pulls_page(repository: Repository, asked: Asked) -> Page:
    """Return the pull requests, open ones unless closed ones are asked for."""
    return _list_page(repository, asked, "Pull requests", "pulls", repository.pulls)


def _list_page(
    repository: Repository, asked: Asked, name: str, kind: str, entries: Sequence[Conversation]
) -> Page:  # fmt: skip
    wants_open = asked.query.get("state") != "closed"
    path = f"{repository_path(repository)}/{kind}"
    wanted = [entry for entry in reversed(entries) if entry.is_open is wants_open]
    number = _whole(asked.query.get("page"))
    shown = wanted[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    state = "open" if wants_open else "closed"
    main = (
        tag("h1", f"{name} of {repository.full_name}"),
        _states(path, entries, wants_open=wants_open),
        listed((_row(entry) for entry in shown), nothing=f"None is {state}."),
        _pages(path, state, number, len(wanted)),
    )
    return Page(f"{name} · {repository.full_name}", repository_above(repository), main)


def _states(path: str, entries: Sequence[Conversation], *, wants_open: bool) -> Html:
    count = sum(entry.is_open for entry in entries)
    links = (
        link(path, f"{count} open", aria_current="page" if wants_open else None),
        link(f"{path}?state=closed", f"{len(entries) - count} closed", aria_current=None if wants_open else "page"),
    )
    return tag("nav", *links, aria_label="State", class_="tabs")


def _row(entry: Conversation) -> Html:
    who = people(entry.assignees)
    more = tag("span", f"assigned to {who}", class_="dim") if who else ""
    return tag("p", state_badge(entry), " ", conversation_link(entry), " ", pills(entry.labels) or "", " ", more)


def _pages(path: str, state: str, number: int, count: int) -> Html:
    last = (count + PAGE_SIZE - 1) // PAGE_SIZE
    around = [(number - 1, "Newer"), (number + 1, "Older")]
    links = [
        link(f"{path}?{urlencode({'state': state, 'page': target})}", name)
        for target, name in around
        if 1 <= target <= last
    ]
    return tag("nav", *links, aria_label="More pages", class_="tabs") if links else tag("p")


def _whole(text: str | None) -> int:
    return max(int(text), 1) if text is not None and text.isdecimal() and len(text) < 10 else 1  # noqa: PLR2004
