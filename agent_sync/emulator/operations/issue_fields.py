"""Issue fields and issue types: defined by an organisation, set on single issues."""

from collections.abc import Iterable

from agent_sync.emulator.operations.changes import record
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.issue_fields import IssueField, IssueFieldOption, IssueFieldValue, IssueType
from agent_sync.emulator.world.people import Role, User, Viewer
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.world import World


def add_issue_field(world: World, owner: User, name: str, options: Iterable[str]) -> IssueField:
    """Define a single select field for the issues of an organisation."""
    choices = [
        IssueFieldOption(identity=world.identify("IFSSO"), name=option, priority=place)
        for place, option in enumerate(options, 1)
    ]
    field = IssueField(
        identity=world.identify("IFSS"), owner=owner, name=name, created_at=world.clock.now(), options=choices
    )
    for choice in choices:
        world.register(choice.id, choice)
    world.issue_fields.append(field)
    return world.register(field.id, field)


def add_issue_type(world: World, owner: User, name: str, *, color: str = "GRAY") -> IssueType:
    """Define a type for the issues of an organisation."""
    made = IssueType(identity=world.identify("IT"), owner=owner, name=name, color=color)
    world.issue_types.append(made)
    return world.register(made.id, made)


def fields_of(world: World, owner: User) -> list[IssueField]:
    """Return the issue fields of an account; only organisations have some."""
    return [field for field in world.issue_fields if field.owner is owner]


def types_of(world: World, owner: User) -> list[IssueType]:
    """Return the issue types of an account; only organisations have some."""
    return [entry for entry in world.issue_types if entry.owner is owner]


def set_issue_field(
    world: World, viewer: Viewer, issue: Issue, field: IssueField, option: IssueFieldOption | None
) -> None:
    """Choose an option of a field for an issue; none empties the field."""
    require_role(viewer, issue.repository, Role.TRIAGE)
    if field.owner is not issue.repository.owner:
        raise Refused(Kind.NOT_FOUND, f"Could not resolve to a node with the global id of '{field.id}'")
    if option is None:
        issue.field_values.pop(field.id, None)
    elif option not in field.options:
        raise Refused(Kind.UNPROCESSABLE, "The single select option does not belong to the issue field")
    else:
        issue.field_values[field.id] = IssueFieldValue(world.identify("IFSSV"), field, option)
    issue.updated_at = world.clock.now()


def set_issue_type(world: World, viewer: Viewer, issue: Issue, chosen: IssueType | None) -> None:
    """Give an issue a type of its organisation, or take it away."""
    require_role(viewer, issue.repository, Role.TRIAGE)
    if chosen is not None and chosen.owner is not issue.repository.owner:
        raise Refused(Kind.UNPROCESSABLE, "Issue type is not available in this repository")
    issue.type = chosen
    record(world, issue, "issue_type_added" if chosen else "issue_type_removed", by=viewer.user)
