"""Assignees and labels of issues and pull requests."""

from collections.abc import Iterable

from agent_sync.emulator.operations.changes import record
from agent_sync.emulator.operations.rights.access import has_role, require_role
from agent_sync.emulator.world.conversations import Conversation, Label
from agent_sync.emulator.world.people import Role, User, Viewer
from agent_sync.emulator.world.refusal import Kind, Problem, Refused, invalid, not_found
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import BOT, World

MOST_ASSIGNEES = 10


def is_assignable(repository: Repository, user: User) -> bool:
    """Say whether a user can be assigned: the owner and everyone with a role here."""
    return user is repository.owner or repository.roles.get(user.login.lower(), Role.NONE).reaches(Role.READ)


def assign(world: World, viewer: Viewer, conversation: Conversation, logins: Iterable[str]) -> None:
    """Add assignees, at most ten in all; without push access nothing happens, as on GitHub."""
    wanted = list(logins)
    if not wanted:
        return
    require_role(viewer, conversation.repository, Role.READ)
    users = [_assignable(world, conversation, login) for login in wanted]
    if not has_role(viewer, conversation.repository, Role.TRIAGE):
        return
    for user in users:
        if user not in conversation.assignees and len(conversation.assignees) < MOST_ASSIGNEES:
            conversation.assignees.append(user)
            record(world, conversation, "assigned", by=viewer.user, subject=user.login)


def unassign(world: World, viewer: Viewer, conversation: Conversation, logins: Iterable[str]) -> None:
    """Take assignees off; without push access nothing happens."""
    require_role(viewer, conversation.repository, Role.READ)
    if not has_role(viewer, conversation.repository, Role.TRIAGE):
        return
    gone = {login.lower() for login in logins}
    for user in [user for user in conversation.assignees if user.login.lower() in gone]:
        conversation.assignees.remove(user)
        record(world, conversation, "unassigned", by=viewer.user, subject=user.login)


def replace_assignees(world: World, viewer: Viewer, conversation: Conversation, logins: Iterable[str]) -> None:
    """Make the assignees exactly these."""
    wanted = list(logins)
    kept = {login.lower() for login in wanted}
    unassign(
        world,
        viewer,
        conversation,
        [user.login for user in conversation.assignees if user.login.lower() not in kept],
    )
    assign(world, viewer, conversation, wanted)


def _assignable(world: World, conversation: Conversation, login: str) -> User:
    user = world.users.get(login.lower()) or world.users.get(f"{login.lower()}{BOT}")
    if user is None or not is_assignable(conversation.repository, user):
        problem = Problem("Issue", "invalid", field="assignees", value=login)
        raise Refused(Kind.UNPROCESSABLE, f"Could not assign {login}: not a collaborator.", problem)
    return user


def add_label(
    world: World,
    viewer: Viewer,
    repository: Repository,
    name: str,
    *,
    color: str = "ededed",
    description: str = "",
) -> Label:
    """Create a label in a repository."""
    require_role(viewer, repository)
    if not name.strip():
        raise invalid("Label", "name", code="missing_field")
    if name.lower() in repository.labels:
        raise invalid("Label", "name", code="already_exists")
    return _store_label(world, repository, Label(world.identify("LA"), name, color, description or None))


def _store_label(world: World, repository: Repository, label: Label) -> Label:
    repository.labels[label.name.lower()] = label
    return world.register(label.id, label)


def find_label(repository: Repository, name: str) -> Label:
    """Return the label of that name, or refuse."""
    label = repository.labels.get(name.lower())
    if label is None:
        raise not_found("Label does not exist")
    return label


def set_labels(world: World, viewer: Viewer, conversation: Conversation, names: Iterable[str]) -> None:
    """Put labels on, creating unknown ones as REST does; dropped silently without push access."""
    repository = conversation.repository
    if not has_role(viewer, repository, Role.TRIAGE):
        return
    for name in names:
        label = repository.labels.get(name.lower()) or _store_label(
            world, repository, Label(world.identify("LA"), name)
        )
        if label not in conversation.labels:
            conversation.labels.append(label)
            record(world, conversation, "labeled", by=viewer.user, subject=label.name)


def remove_labels(world: World, viewer: Viewer, conversation: Conversation, names: Iterable[str]) -> None:
    """Take labels off."""
    require_role(viewer, conversation.repository, Role.TRIAGE)
    gone = {name.lower() for name in names}
    for label in [label for label in conversation.labels if label.name.lower() in gone]:
        conversation.labels.remove(label)
        record(world, conversation, "unlabeled", by=viewer.user, subject=label.name)
