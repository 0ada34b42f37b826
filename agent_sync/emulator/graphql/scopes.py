"""Refuses a document that asks for something a token's scopes do not reach.

GitHub looks at the document before it runs anything: one such field costs the whole answer.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from agent_sync.emulator.graphql.selection import Selected
from agent_sync.emulator.world.people import Viewer

# Anything may own boards; only the fields that lead to them need the scope.
FREE_TYPES = {"ProjectV2Owner"}
# These fields are asked of an organisation itself; `owner { login }` of a repository is free.
MEMBERS_ONLY = {"email", "login", "name"}
INCLUDED = {
    "project": ("read:project",),
    "repo": ("public_repo",),
    "admin:org": ("read:org",),
    "write:org": ("read:org",),
}


def missing_scopes(fields: Iterable[Selected], viewer: Viewer) -> list[dict[str, Any]]:
    """Return one error for each field that needs a scope the token has not, as GitHub does."""
    if not viewer.has_scopes:
        return []
    return [_error(field, needed, viewer) for field, needed in _needs(fields) if not set(needed) & _held(viewer)]


def _held(viewer: Viewer) -> set[str]:
    held = set(viewer.scopes)
    return held | {wider for scope in held for wider in INCLUDED.get(scope, ())}


def _needs(fields: Iterable[Selected]) -> Iterator[tuple[Selected, tuple[str, ...]]]:
    for field in fields:
        needed = _needed(field)
        if needed:
            yield field, needed


def _needed(field: Selected) -> tuple[str, ...]:
    if field.parent.name == "Mutation":
        return ("project",) if "ProjectV2" in field.name else ("public_repo",)
    if _is_board_type(field.parent.name) or _is_board_type(field.type.name):
        return ("read:project",)
    if field.parent.name == "Organization" and field.name in MEMBERS_ONLY:
        return ("read:org",)
    return ("read:org", "read:discussion") if field.parent.name == "Team" else ()


def _is_board_type(name: str) -> bool:
    return name.startswith("ProjectV2") and name not in FREE_TYPES


def _error(field: Selected, needed: tuple[str, ...], viewer: Viewer) -> dict[str, Any]:
    wanted = ", ".join(repr(scope) for scope in needed)
    granted = ", ".join(repr(scope) for scope in viewer.scopes)
    start = field.node.loc.start_token if field.node.loc else None
    return {
        "type": "INSUFFICIENT_SCOPES",
        "locations": [{"line": start.line, "column": start.column}] if start else [],
        "message": (
            "Your token has not been granted the required scopes to execute this query. "
            f"The '{field.name}' field requires one of the following scopes: [{wanted}], but your token "
            f"has only been granted the: [{granted}] scopes. Please modify your token's scopes at: "
            "https://github.com/settings/tokens."
        ),
    }
