"""Operations on boards: create them, put items on, set and clear values, archive, remove."""

from collections.abc import Iterable
from typing import TypeVar

from agent_sync.emulator.operations import automation
from agent_sync.emulator.operations.changes import NewValue, store_value
from agent_sync.emulator.operations.rights.access import require_board_write, require_projects
from agent_sync.emulator.operations.rights.policies import require_welcome
from agent_sync.emulator.world.boards import SETTABLE, DraftIssue, Field, FieldType, Item, Iteration, Option, Project
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.issue_fields import IssueField
from agent_sync.emulator.world.people import User, Viewer
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.world import World

BUILT_IN_FIELDS = (
    ("Title", FieldType.TITLE),
    ("Assignees", FieldType.ASSIGNEES),
    ("Labels", FieldType.LABELS),
    ("Linked pull requests", FieldType.LINKED_PULL_REQUESTS),
    ("Milestone", FieldType.MILESTONE),
    ("Repository", FieldType.REPOSITORY),
    ("Reviewers", FieldType.REVIEWERS),
    ("Parent issue", FieldType.PARENT_ISSUE),
    ("Sub-issues progress", FieldType.SUB_ISSUES_PROGRESS),
)
T = TypeVar("T")

FIELD_PREFIX = {FieldType.SINGLE_SELECT: "PVTSSF", FieldType.ITERATION: "PVTIF"}


def create_project(world: World, owner: User, number: int, title: str) -> Project:
    """Create a board with the fields every board has."""
    now = world.clock.now()
    project = Project(
        identity=world.identify("PVT"), owner=owner, number=number, title=title, creator=owner,
        created_at=now, updated_at=now,
    )  # fmt: skip
    world.projects[owner.login.lower(), number] = project
    world.register(project.id, project)
    for name, type_ in BUILT_IN_FIELDS:
        add_field(world, project, name, type_)
    return project


def add_field(
    world: World,
    project: Project,
    name: str,
    type_: FieldType,
    *,
    options: Iterable[str] = (),
    iterations: Iterable[Iteration] = (),
    issue_field: IssueField | None = None,
) -> Field:
    """Add a field of any type to a board; one that shows an issue field has the options of that."""
    now = world.clock.now()
    field = Field(
        identity=world.identify(FIELD_PREFIX.get(type_, "PVTF")), project=project, name=name, type=type_,
        created_at=now, updated_at=now, options=[Option(world.ids.option(), option) for option in options],
        iterations=list(iterations), issue_field=issue_field,
    )  # fmt: skip
    project.fields.append(field)
    return world.register(field.id, field)


def item_of(project: Project, content: Issue | PullRequest) -> Item | None:
    """Return the card of an issue or pull request on a board, archived or not."""
    return next((item for item in content.items if item.project is project), None)


def add_item(world: World, viewer: Viewer, project: Project, content: Issue | PullRequest) -> Item:
    """Put an issue or pull request on a board; one that is there already is returned as it is."""
    require_board_write(world, viewer, project)
    known = item_of(project, content)
    if known:
        return known
    item = _new_item(world, viewer, project, content)
    content.items.append(item)
    return item


def add_draft(world: World, viewer: Viewer, project: Project, *, title: str, body: str = "") -> Item:
    """Put a note on a board."""
    require_board_write(world, viewer, project)
    now = world.clock.now()
    draft = DraftIssue(
        identity=world.identify("DI"),
        title=title,
        body=body,
        author=viewer.user,
        created_at=now,
        updated_at=now,
    )
    world.register(draft.id, draft)
    return _new_item(world, viewer, project, draft)


def _new_item(world: World, viewer: Viewer, project: Project, content: Issue | PullRequest | DraftIssue) -> Item:
    now = world.clock.now()
    item = Item(
        identity=world.identify("PVTI"), project=project, content=content, creator=viewer.user,
        created_at=now, updated_at=now,
    )  # fmt: skip
    project.items[item.id] = item
    return world.register(item.id, item)


def set_value(
    world: World, viewer: Viewer, item: Item, field: Field, *, value: NewValue, project: Project | None = None
) -> None:
    """Set one field of an item, refusing what does not fit; `project` is where the caller thinks they are."""
    _require_settable(world, viewer, item, field, project=project or item.project)
    store_value(world, item, field, _fitting(field, value), by=viewer.user)
    automation.after_moving(world, item, field, by=viewer.user)


def clear_value(world: World, viewer: Viewer, item: Item, field: Field, *, project: Project | None = None) -> None:
    """Empty one field of an item; an empty one stays empty."""
    _require_settable(world, viewer, item, field, project=project or item.project)
    if item.values.pop(field.id, None):
        item.updated_at = item.project.updated_at = world.clock.now()


def _require_settable(world: World, viewer: Viewer, item: Item, field: Field, *, project: Project) -> None:
    require_board_write(world, viewer, project)
    if item.project is not project:
        raise Refused(Kind.NOT_FOUND, "The item does not exist in the project")
    if field.project is not project:
        raise Refused(Kind.NOT_FOUND, "The field does not exist in the project")
    if item.archived:
        raise Refused(Kind.UNPROCESSABLE, "The item is archived and cannot be updated")
    if field.issue_field is not None:
        raise Refused(Kind.VALIDATION, "Issue fields are set on the issue, not on the project item.")
    if field.type not in SETTABLE:
        kind = field.type.lower()
        raise Refused(Kind.VALIDATION, f"The field of type {kind} is currently not supported.")


def _given(field: Field, what: str, value: T | None) -> T:
    if value is None:
        kind = field.type.lower()
        raise Refused(Kind.VALIDATION, f"Did not receive a {what} value to update a field of type {kind}")
    return value


def _fitting(field: Field, value: NewValue) -> NewValue:
    match field.type:
        case FieldType.TEXT:
            return NewValue(text=_given(field, "text", value.text))
        case FieldType.NUMBER:
            return NewValue(number=_given(field, "number", value.number))
        case FieldType.DATE:
            return NewValue(day=_given(field, "date", value.day))
        case FieldType.SINGLE_SELECT:
            chosen = _given(field, "single select option Id", value.option_id)
            if field.option_by_id(chosen) is None:
                raise Refused(Kind.VALIDATION, "The single select option Id does not belong to the field")
            return NewValue(option_id=chosen)
        case _:
            chosen = _given(field, "iteration Id", value.iteration_id)
            if field.iteration_by_id(chosen) is None:
                raise Refused(Kind.VALIDATION, "The iteration Id does not belong to the field")
            return NewValue(iteration_id=chosen)


def archive_item(world: World, viewer: Viewer, item: Item, *, archived: bool = True) -> None:
    """Put an item into the archive, or take it out again."""
    require_board_write(world, viewer, item.project)
    item.archived = archived
    item.updated_at = world.clock.now()


def remove_item(world: World, viewer: Viewer, item: Item) -> None:
    """Take an item off its board; the issue itself stays."""
    require_board_write(world, viewer, item.project)
    del item.project.items[item.id]
    world.nodes.pop(item.id)
    if not isinstance(item.content, DraftIssue):
        item.content.items.remove(item)


def rename_option(world: World, field: Field, option: Option, *, to: str, reissue_ids: bool = False) -> None:
    """Rename an option; re-issued ids leave every card that had one without a value, as on GitHub."""
    option.name = to
    if reissue_ids:
        for entry in field.options:
            entry.id = world.ids.option()
    field.updated_at = world.clock.now()


def require_project(world: World, viewer: Viewer, owner: str, number: int) -> Project:
    """Return a board the viewer may see, or refuse; only scopes reach the boards of people."""
    require_projects(viewer)
    project = world.project(owner, number)
    if not viewer.has_scopes and not project.owner.is_organization:
        raise Refused(Kind.FORBIDDEN, viewer.no_access)
    require_welcome(world, viewer, project.owner)
    return project
