"""Projects v2: boards, fields, items and values."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from agent_sync.emulator.graphql.board_filter import board_filter
from agent_sync.emulator.graphql.board_values import ItemValue, value_of, values_of
from agent_sync.emulator.graphql.prose import html_paragraph
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.operations.rights.access import is_visible, may_write_project
from agent_sync.emulator.world.boards import DraftIssue, Field, Item, Iteration, Option, Project
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.repositories import Repository

MONDAY = 1


def items(
    project: Project, request: Request, *, query: str | None = "", archived_states: list[str] | None = None
) -> Sequence[Item]:
    """Return the cards that pass the filter; archived ones only when asked for."""
    states = archived_states or ["NOT_ARCHIVED"]
    found = [item for item in project.items.values() if _archived_state(item) in states]
    if not query:
        return found
    passes = board_filter(query, project, request.viewer.user.login.lower())
    return [item for item in found if passes(item)]


def _archived_state(item: Item) -> str:
    return "ARCHIVED" if item.archived else "NOT_ARCHIVED"


def content(item: Item, request: Request) -> Issue | PullRequest | DraftIssue | None:
    """Return what a card holds, or nothing where the viewer must not see its repository."""
    found = item.content
    hidden = not isinstance(found, DraftIssue) and not is_visible(request.viewer, found.repository)
    return None if hidden else found


def item_type(item: Item, request: Request) -> str:
    """Return what kind of content a card holds."""
    if content(item, request) is None:
        return "REDACTED"
    if isinstance(item.content, DraftIssue):
        return "DRAFT_ISSUE"
    return "ISSUE" if isinstance(item.content, Issue) else "PULL_REQUEST"


def value_by_name(item: Item, request: Request, *, name: str) -> ItemValue | None:
    """Return what a card shows in the field of that name, if there is one."""
    field = item.project.field_named(name)
    return value_of(item, field, request) if field else None


def path(project: Project, _request: Request | None = None) -> str:
    """Return the path of a board's page."""
    kind = "orgs" if project.owner.is_organization else "users"
    return f"/{kind}/{project.owner.login}/projects/{project.number}"


def repositories(project: Project, _request: Request) -> Sequence[Repository]:
    """Return the repositories whose issues and pull requests are on a board."""
    contents = (item.content for item in project.items.values())
    return list(dict.fromkeys(entry.repository for entry in contents if not isinstance(entry, DraftIssue)))


def configuration(field: Field, request: Request) -> dict[str, Any]:
    """Return the stretches of an iteration field, the finished ones apart."""
    today = request.world.clock.now().date()
    finished = [entry for entry in field.iterations if _end(entry) <= today]
    coming = [entry for entry in field.iterations if _end(entry) > today]
    days = field.iterations[0].days if field.iterations else 14
    return {"completedIterations": finished, "iterations": coming, "duration": days, "startDay": MONDAY}


def _end(iteration: Iteration) -> date:
    return iteration.start + timedelta(days=iteration.days)


def options(field: Field, _request: Request, *, names: list[str] | None = None) -> Sequence[Option]:
    """Return the choices of a field, or only those of the given names."""
    return [option for option in field.options if names is None or option.name in names]


def items_of(draft: DraftIssue, request: Request) -> Sequence[Item]:
    """Return the cards of a draft."""
    boards = request.world.projects.values()
    return [item for board in boards for item in board.items.values() if item.content is draft]


def _may_update(project: Project, request: Request) -> bool:
    return request.viewer.may_write and may_write_project(request.world, request.viewer, project)


FIELD: Table = {"dataType": lambda field, _: field.type.value}
ITERATION: Table = {
    "duration": lambda entry, _: entry.days,
    "startDate": lambda entry, _: entry.start,
    "titleHTML": lambda entry, _: entry.title,
}

RESOLVERS: dict[str, Table] = {
    "ProjectV2": {
        "closedAt": constant(None),
        "field": lambda project, _, name: project.field_named(name),
        "items": items,
        "repositories": repositories,
        "resourcePath": path,
        "template": constant(False),
        "url": lambda project, request: request.url(path(project)),
        "viewerCanClose": _may_update,
        "viewerCanReopen": _may_update,
        "viewerCanUpdate": _may_update,
    },
    "ProjectV2Item": {
        "content": content,
        "fieldValueByName": value_by_name,
        "fieldValues": lambda item, request: list(values_of(item, request)),
        "isArchived": lambda item, _: item.archived,
        "type": item_type,
    },
    "ProjectV2Field": FIELD,
    "ProjectV2SingleSelectField": FIELD | {"options": options},
    "ProjectV2IterationField": FIELD | {"configuration": configuration},
    "ProjectV2IterationFieldIteration": ITERATION,
    "ProjectV2SingleSelectFieldOption": {
        "descriptionHTML": lambda option, _: option.description,
        "nameHTML": lambda option, _: option.name,
    },
    "ProjectV2ItemFieldSingleSelectValue": {
        "color": lambda value, _: value.option.color,
        "description": lambda value, _: value.option.description,
        "descriptionHTML": lambda value, _: value.option.description,
        "name": lambda value, _: value.option.name,
        "nameHTML": lambda value, _: value.option.name,
        "optionId": lambda value, _: value.option.id,
        "databaseId": lambda value, _: value.database_id,
    },
    "ProjectV2ItemFieldIterationValue": {
        "databaseId": lambda value, _: value.database_id,
        "duration": lambda value, _: value.iteration.days,
        "iterationId": lambda value, _: value.iteration.id,
        "startDate": lambda value, _: value.iteration.start,
        "title": lambda value, _: value.iteration.title,
        "titleHTML": lambda value, _: value.iteration.title,
    },
    "ProjectV2ItemFieldTextValue": {"databaseId": lambda value, _: value.database_id},
    "ProjectV2ItemFieldNumberValue": {"databaseId": lambda value, _: value.database_id},
    "ProjectV2ItemFieldDateValue": {"databaseId": lambda value, _: value.database_id},
    "DraftIssue": {
        "bodyHTML": lambda draft, _: html_paragraph(draft.body),
        "bodyText": lambda draft, _: draft.body,
        "creator": lambda draft, _: draft.author,
        "projectV2Items": items_of,
        "projectsV2": lambda draft, request: [item.project for item in items_of(draft, request)],
    },
}
