"""Refuses a document that reads or writes boards with a token that does not reach them.

GitHub looks at the document before it runs anything: one such field costs the whole answer.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from agent_sync.emulator.graphql.selection import Selected
from agent_sync.emulator.world.people import Viewer

# Anything may own boards; only the fields that lead to them need the scope.
FREE_TYPES = {"ProjectV2Owner"}


def missing_scopes(fields: Iterable[Selected], viewer: Viewer) -> list[dict[str, Any]]:
    """Return one error for each field on or behind a board, as GitHub does."""
    if viewer.may_use_projects:
        return []
    return [_error(field, viewer) for field in _board_fields(fields)]


def _board_fields(fields: Iterable[Selected]) -> Iterator[Selected]:
    for field in fields:
        inside = _is_board_type(field.parent.name)
        if inside or _is_board_type(field.type.name) or _is_board_mutation(field):
            yield field


def _is_board_mutation(field: Selected) -> bool:
    return field.parent.name == "Mutation" and "ProjectV2" in field.name


def _is_board_type(name: str) -> bool:
    return name.startswith("ProjectV2") and name not in FREE_TYPES


def _error(field: Selected, viewer: Viewer) -> dict[str, Any]:
    needed = "project" if field.parent.name == "Mutation" else "read:project"
    granted = ", ".join(repr(scope) for scope in viewer.scopes)
    start = field.node.loc.start_token if field.node.loc else None
    return {
        "type": "INSUFFICIENT_SCOPES",
        "locations": [{"line": start.line, "column": start.column}] if start else [],
        "message": (
            "Your token has not been granted the required scopes to execute this query. "
            f"The '{field.name}' field requires one of the following scopes: ['{needed}'], but your token "
            f"has only been granted the: [{granted}] scopes. Please modify your token's scopes at: "
            "https://github.com/settings/tokens."
        ),
    }
