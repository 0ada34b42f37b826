"""Pages of connections: GitHub's bounds, cursors that survive changes, and the slice they mean."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphql import FieldNode, GraphQLResolveInfo

from agent_sync.emulator.graphql.failures import failure
from agent_sync.emulator.graphql.request import Request

LARGEST_PAGE = 100
BOUNDS = ("first", "last", "after", "before")
# A connection asked only for its counts needs no bounds, as on GitHub.
NEED_BOUNDS = {"nodes", "edges", "pageInfo"}
# The connections that real clients ask for zero records, only to learn how many there are.
MAY_BE_EMPTY = {"items", "fields"}


@dataclass(frozen=True)
class PageInfo:
    """Where a page lies among its neighbours."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@dataclass(frozen=True)
class Edge:
    """One record of a page with the cursor that points at it."""

    node: Any
    cursor: str


@dataclass(frozen=True)
class Page:
    """The records from `start` to `stop` of everything there is."""

    everything: Sequence[Any]
    start: int
    stop: int

    @property
    def nodes(self) -> Sequence[Any]:
        """Return the records of this page."""
        return self.everything[self.start : self.stop]

    @property
    def edges(self) -> list[Edge]:
        """Return the records of this page with their cursors."""
        return [Edge(node, cursor(index, node)) for index, node in enumerate(self.nodes, self.start)]

    @property
    def total_count(self) -> int:
        """Return how many records there are on all pages."""
        return len(self.everything)

    @property
    def page_info(self) -> PageInfo:
        """Return the cursors at both ends of this page."""
        empty = self.start >= self.stop
        first, last = self.start, self.stop - 1
        return PageInfo(
            has_next_page=self.stop < len(self.everything),
            has_previous_page=self.start > 0,
            start_cursor=None if empty else cursor(first, self.everything[first]),
            end_cursor=None if empty else cursor(last, self.everything[last]),
        )


def page(everything: Sequence[Any], bounds: dict[str, Any]) -> Page:
    """Cut the slice out that the bounds mean."""
    start, stop = 0, len(everything)
    if bounds.get("after"):
        start = min(position(everything, bounds["after"], gone=0) + 1, stop)
    if bounds.get("before"):
        stop = max(start, min(position(everything, bounds["before"], gone=1), stop))
    if bounds.get("first") is not None:
        stop = min(stop, start + bounds["first"])
    elif bounds.get("last") is not None:
        start = max(start, stop - bounds["last"])
    return Page(everything, start, stop)


def cursor(index: int, record: Any) -> str:
    """Return an opaque pointer at a record: what it is, and where it was."""
    identity = getattr(record, "id", "")
    return base64.b64encode(f"cursor:v2:{index}:{identity}".encode()).decode()


def position(everything: Sequence[Any], pointer: str, *, gone: int) -> int:
    """Return where the record of a cursor is now, or the place before it if it has left the list."""
    index, identity = decoded(pointer)
    if index < len(everything) and getattr(everything[index], "id", "") == identity:
        return index
    found = (place for place, record in enumerate(everything) if getattr(record, "id", "") == identity)
    return next(found, index - 1 + gone)


def decoded(pointer: str) -> tuple[int, str]:
    """Read a cursor, or refuse one that no page has given out."""
    try:
        word, version, index, identity = base64.b64decode(pointer, validate=True).decode().split(":", 3)
        if (word, version) == ("cursor", "v2"):
            return int(index), identity
    except (binascii.Error, ValueError):
        pass
    raise failure("INVALID_CURSOR_ARGUMENTS", f"`{pointer}` does not appear to be a valid cursor.")


def check_bounds(bounds: dict[str, Any], info: "GraphQLResolveInfo[Request]") -> None:
    """Refuse a page that GitHub would refuse."""
    name = info.field_name
    given = {side: bounds[side] for side in ("first", "last") if bounds.get(side) is not None}
    if not given and wants_records(info):
        raise failure(
            "MISSING_PAGINATION_BOUNDARIES",
            f"You must provide a `first` or `last` value to properly paginate the `{name}` connection.",
        )
    if len(given) > 1:
        raise failure(
            "INVALID_PAGINATION_BOUNDARIES",
            f"Passing both `first` and `last` to paginate the `{name}` connection is not supported.",
        )
    for side, size in given.items():
        check_size(name, side, size)


def check_size(name: str, side: str, size: int) -> None:
    """Refuse a page of no, negative or too many records."""
    if size > LARGEST_PAGE:
        raise failure("EXCESSIVE_PAGINATION", excess(name, side, size))
    if size < 0 or (size == 0 and name not in MAY_BE_EMPTY):
        raise failure("INVALID_PAGINATION_BOUNDARIES", f"`{side}` on the `{name}` connection cannot be less than one.")


def excess(name: str, side: str, size: int) -> str:
    """Return GitHub's sentence about a page that is too large."""
    return f"Requesting {size} records on the `{name}` connection exceeds the `{side}` limit of {LARGEST_PAGE} records."


def wants_records(info: "GraphQLResolveInfo[Request]") -> bool:
    """Say whether the selection reads records and not only counts; a fragment counts as reading."""
    return any(
        not isinstance(entry, FieldNode) or entry.name.value in NEED_BOUNDS
        for node in info.field_nodes
        if node.selection_set
        for entry in node.selection_set.selections
    )
