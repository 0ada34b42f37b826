"""Finds what the ids in a mutation's input mean."""

from collections.abc import Sequence
from typing import Any, TypeVar

from agent_sync.emulator.graphql.fields.root import find_node
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.world.refusal import not_found

Payload = dict[str, Any]
Thing = TypeVar("Thing")


def refuse_classic_projects(ids: Sequence[str] | None) -> None:
    """Refuse classic boards, which no longer exist; clients still send the empty list of them."""
    if ids:
        raise not_found(f"Could not resolve to a node with the global id of '{ids[0]}'")


def found(request: Request, node_id: str, kind: type[Thing]) -> Thing:
    """Return the thing of that kind with that id, or refuse."""
    thing = find_node(request, node_id)
    if not isinstance(thing, kind):
        raise not_found(f"Could not resolve to a node with the global id of '{node_id}'")
    return thing
