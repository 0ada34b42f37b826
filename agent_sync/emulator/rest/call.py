"""One REST call: who asks for what, and the ways to answer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from agent_sync.emulator.exchange import Answer, Asked, Links, json_answer
from agent_sync.emulator.limits import Limits
from agent_sync.emulator.operations.rights.access import require_visible
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.refusal import Kind, Refused, invalid, not_found
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

DEFAULT_PAGE = 30
LARGEST_PAGE = 100

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """A request that has been routed and signed in."""

    world: World
    limits: Limits
    viewer: Viewer
    asked: Asked
    params: dict[str, str]

    @property
    def links(self) -> Links:
        """Return the roots of URLs in the answer."""
        return self.asked.links

    @cached_property
    def repository(self) -> Repository:
        """Return the repository the path names."""
        found = self.world.repository(self.params["owner"], self.params["repo"])
        return require_visible(self.world, self.viewer, found)

    def number(self, name: str) -> int:
        """Return a number the path names; anything else names nothing."""
        text = self.params[name]
        if not text.isdecimal():
            raise not_found()
        return int(text)

    @cached_property
    def json(self) -> Any:
        """Return the JSON that was sent."""
        try:
            return self.asked.json()
        except ValueError:
            raise Refused(Kind.BAD_REQUEST, "Problems parsing JSON") from None

    @property
    def body(self) -> dict[str, Any]:
        """Return the JSON object that was sent."""
        if not isinstance(self.json, dict):
            raise Refused(Kind.BAD_REQUEST, "Body should be a JSON object")
        return self.json

    def text(self, resource: str, name: str) -> str:
        """Return a text the body must have."""
        value = self.body.get(name)
        if value is None:
            raise invalid(resource, name, code="missing_field")
        if not isinstance(value, str):
            raise invalid(resource, name)
        return value

    def optional_text(self, resource: str, name: str) -> str | None:
        """Return a text the body may have."""
        return None if self.body.get(name) is None else self.text(resource, name)

    def texts(self, name: str) -> list[str]:
        """Return a list of texts the body may have, or be; labels may come as objects."""
        value = self.json if isinstance(self.json, list) else self.body.get(name)
        entries = [value] if isinstance(value, str) else value or []
        return [entry["name"] if isinstance(entry, dict) else str(entry) for entry in entries]

    def page(self, entries: Sequence[T], shape: Callable[[T], Any]) -> Answer:
        """Answer one page of a list, with links to its neighbours."""
        shown, links = self.slice(entries)
        return json_answer(200, [shape(entry) for entry in shown], **links)

    def slice(self, entries: Sequence[T]) -> tuple[Sequence[T], dict[str, str]]:
        """Return the page that was asked for, and the header that leads to the others."""
        size = min(max(_whole(self.asked.query.get("per_page"), DEFAULT_PAGE), 1), LARGEST_PAGE)
        page = max(_whole(self.asked.query.get("page"), 1), 1)
        last = max((len(entries) + size - 1) // size, 1)
        targets = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
        wanted = [name for name in targets if (page > 1 if name in {"prev", "first"} else page < last)]
        header = ", ".join(f'<{self._page_url(targets[name])}>; rel="{name}"' for name in wanted)
        return entries[(page - 1) * size : page * size], {"link": header} if header else {}

    def _page_url(self, page: int) -> str:
        query = {**self.asked.query, "page": str(page)}
        return f"{self.links.api}{quote(self.asked.plain_path)}?{urlencode(query)}"


def _whole(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdecimal() else default


def newest_first(entries: Iterable[T], key: Callable[[T], Any], call: Call) -> list[T]:
    """Return a list in the order the caller asked for; newest first unless they say otherwise."""
    return sorted(entries, key=key, reverse=call.asked.query.get("direction", "desc") != "asc")
