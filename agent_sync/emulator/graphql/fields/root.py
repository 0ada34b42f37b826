"""Where every query starts."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from agent_sync.emulator.graphql.fields.search import search
from agent_sync.emulator.graphql.git_objects import derived_node
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.graphql.types import is_board_part
from agent_sync.emulator.operations.boards import require_project
from agent_sync.emulator.operations.rights.access import require_projects, require_visible
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.refusal import Refused, not_found
from agent_sync.emulator.world.repositories import Repository

HOURLY_POINTS = 5000


def find_node(request: Request, node_id: str) -> Any:
    """Return the thing with that id, or refuse."""
    found = derived_node(request.world, node_id) or request.world.node(node_id)
    if is_board_part(found):
        require_projects(request.viewer)
    place = found if isinstance(found, Repository) else getattr(found, "repository", None)
    if isinstance(place, Repository):
        require_visible(request.world, request.viewer, place)
    return found


def node(_root: None, request: Request, *, id: str) -> Any:  # noqa: A002 - GitHub's name
    """Return one thing by its id."""
    return find_node(request, id)


def nodes(_root: None, request: Request, *, ids: list[str]) -> list[Any]:
    """Return several things by their ids; one that does not exist is an error at its own place."""
    return [_found_or_error(request, node_id) for node_id in ids]


def _found_or_error(request: Request, node_id: str) -> Any:
    try:
        return find_node(request, node_id)
    except Refused as refused:
        return refused


def account(request: Request, login: str, *, kind: str) -> User:
    """Return the user or organization of that login, or refuse."""
    found = request.world.users.get(login.lower())
    if found is None or found.is_organization != (kind == "Organization"):
        article = "an" if kind == "Organization" else "a"
        raise not_found(f"Could not resolve to {article} {kind} with the login of '{login}'.")
    return found


def resource(_root: None, request: Request, *, url: str) -> Any:
    """Return what a page of the site shows, whatever host it is named under."""
    parts = urlsplit(url).path.strip("/").split("/")
    try:
        match parts:
            case [owner]:
                return request.world.users.get(owner.lower())
            case [owner, name]:
                return request.world.repository(owner, name)
            case ["users" | "orgs", owner, "projects", number, *_]:
                return require_project(request.world, request.viewer, owner, int(number))
            case [owner, name, "issues" | "pull", number, *_]:
                return request.world.repository(owner, name).conversations.get(int(number))
            case _:
                return None
    except (Refused, ValueError):
        return None


def rate_limit(_root: None, request: Request) -> dict[str, Any]:
    """Return the budget; the local GitHub never runs out of it by itself."""
    return {
        "cost": request.cost, "limit": HOURLY_POINTS, "nodeCount": request.node_count,
        "remaining": HOURLY_POINTS - request.cost, "used": request.cost,
        "resetAt": request.world.clock.now() + timedelta(hours=1),
    }  # fmt: skip


def repository(
    _root: None, request: Request, *, owner: str, name: str, follow_renames: bool | None = True
) -> Repository:
    """Return a repository that the viewer may see, under its old name too unless asked otherwise, or refuse."""
    found = require_visible(request.world, request.viewer, request.world.repository(owner, name))
    if follow_renames is False and found.full_name.lower() != f"{owner}/{name}".lower():
        raise not_found(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
    return found


RESOLVERS: dict[str, Table] = {
    "Query": {
        "id": constant("MDU6UXVlcnk="),
        "node": node,
        "nodes": nodes,
        "organization": lambda _, request, login: account(request, login, kind="Organization"),
        "rateLimit": rate_limit,
        "repository": repository,
        "repositoryOwner": lambda _, request, login: request.world.users.get(login.lower()),
        "resource": resource,
        "search": search,
        "user": lambda _, request, login: account(request, login, kind="User"),
        "viewer": lambda _, request: request.viewer.user,
    },
}
