"""Mutations of boards."""

from datetime import date
from typing import Any

from agent_sync.emulator.graphql.mutations.found import Payload, found
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.operations import boards
from agent_sync.emulator.operations.changes import NewValue
from agent_sync.emulator.world.boards import Field, Item, Project
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.refusal import Kind, Refused, not_found


def add_item(request: Request, *, project_id: str, content_id: str) -> Payload:
    """Put an issue or pull request on a board."""
    content: Any = found(request, content_id, object)
    if not isinstance(content, Issue | PullRequest):
        raise not_found(f"Could not resolve to a node with the global id of '{content_id}'")
    project = found(request, project_id, Project)
    return {"item": boards.add_item(request.world, request.viewer, project, content)}


def add_draft(
    request: Request,
    *,
    project_id: str,
    title: str,
    body: str | None = None,
    assignee_ids: list[str] | None = None,
) -> Payload:
    """Put a note on a board."""
    project, people = (
        found(request, project_id, Project),
        [found(request, u, User) for u in assignee_ids or ()],
    )
    item = boards.add_draft(request.world, request.viewer, project, title=title, body=body or "")
    item.content.assignees.extend(people)
    return {"projectItem": item}


def set_value(request: Request, *, project_id: str, item_id: str, field_id: str, value: dict[str, Any]) -> Payload:
    """Set one field of a card."""
    project, item = found(request, project_id, Project), found(request, item_id, Item)
    field = found(request, field_id, Field)
    boards.set_value(request.world, request.viewer, item, field, value=new_value(value), project=project)
    return {"projectV2Item": item}


def new_value(value: dict[str, Any]) -> NewValue:
    """Read the one value of an input."""
    given = {name: entry for name, entry in value.items() if entry is not None}
    if len(given) > 1:
        raise Refused(Kind.VALIDATION, "Only one of the value fields can be set")
    return NewValue(
        text=given.get("text"),
        number=given.get("number"),
        day=_day(given["date"]) if "date" in given else None,
        option_id=given.get("singleSelectOptionId"),
        iteration_id=given.get("iterationId"),
    )


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise Refused(Kind.VALIDATION, f"The date '{text}' is not a valid ISO 8601 date") from error


def clear_value(request: Request, *, project_id: str, item_id: str, field_id: str) -> Payload:
    """Empty one field of a card."""
    project, item = found(request, project_id, Project), found(request, item_id, Item)
    field = found(request, field_id, Field)
    boards.clear_value(request.world, request.viewer, item, field, project=project)
    return {"projectV2Item": item}


def archive(request: Request, *, project_id: str, item_id: str) -> Payload:
    """Put a card into the archive."""
    item = _card(request, project_id, item_id)
    boards.archive_item(request.world, request.viewer, item)
    return {"item": item}


def unarchive(request: Request, *, project_id: str, item_id: str) -> Payload:
    """Take a card out of the archive."""
    item = _card(request, project_id, item_id)
    boards.archive_item(request.world, request.viewer, item, archived=False)
    return {"item": item}


def delete(request: Request, *, project_id: str, item_id: str) -> Payload:
    """Take a card off its board."""
    boards.remove_item(request.world, request.viewer, _card(request, project_id, item_id))
    return {"deletedItemId": item_id}


def _card(request: Request, project_id: str, item_id: str) -> Item:
    project, item = found(request, project_id, Project), found(request, item_id, Item)
    if item.project is not project:
        raise not_found("The item does not exist in the project")
    return item


MUTATIONS: Table = {
    "addProjectV2DraftIssue": add_draft,
    "addProjectV2ItemById": add_item,
    "archiveProjectV2Item": archive,
    "clearProjectV2ItemFieldValue": clear_value,
    "deleteProjectV2Item": delete,
    "unarchiveProjectV2Item": unarchive,
    "updateProjectV2ItemFieldValue": set_value,
}
