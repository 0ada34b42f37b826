"""Mutations of assignees and labels."""

from collections.abc import Iterable

from agent_sync.emulator.graphql.mutations.found import Payload, found
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.operations import people
from agent_sync.emulator.operations.rights import access
from agent_sync.emulator.world.conversations import Conversation, Label
from agent_sync.emulator.world.people import Role, User


def logins(request: Request, ids: Iterable[str] | None) -> tuple[str, ...]:
    """Return the logins of the users with these ids."""
    return tuple(found(request, entry, User).login for entry in ids or ())


def label_names(request: Request, ids: Iterable[str] | None) -> tuple[str, ...]:
    """Return the names of the labels with these ids."""
    return tuple(found(request, entry, Label).name for entry in ids or ())


def add_assignees(request: Request, *, assignable_id: str, assignee_ids: list[str] | None = None) -> Payload:
    """Assign people."""
    subject = found(request, assignable_id, Conversation)
    people.assign(request.world, request.viewer, subject, logins(request, assignee_ids))
    return {"assignable": subject}


def remove_assignees(request: Request, *, assignable_id: str, assignee_ids: list[str]) -> Payload:
    """Take assignees off."""
    subject = found(request, assignable_id, Conversation)
    people.unassign(request.world, request.viewer, subject, logins(request, assignee_ids))
    return {"assignable": subject}


def replace_actors(
    request: Request,
    *,
    assignable_id: str,
    actor_ids: list[str] | None = None,
    actor_logins: list[str] | None = None,
) -> Payload:
    """Make the assignees exactly these."""
    subject = found(request, assignable_id, Conversation)
    wanted = (*logins(request, actor_ids), *(actor_logins or ()))
    people.replace_assignees(request.world, request.viewer, subject, wanted)
    return {"assignable": subject}


def add_labels(request: Request, *, labelable_id: str, label_ids: list[str] | None = None) -> Payload:
    """Put labels on; unlike REST, nothing is dropped silently."""
    subject = found(request, labelable_id, Conversation)
    access.require_role(request.viewer, subject.repository, Role.TRIAGE)
    people.set_labels(request.world, request.viewer, subject, label_names(request, label_ids))
    return {"labelable": subject}


def remove_labels(request: Request, *, labelable_id: str, label_ids: list[str]) -> Payload:
    """Take labels off."""
    subject = found(request, labelable_id, Conversation)
    people.remove_labels(request.world, request.viewer, subject, label_names(request, label_ids))
    return {"labelable": subject}


MUTATIONS: Table = {
    "addAssigneesToAssignable": add_assignees,
    "addLabelsToLabelable": add_labels,
    "removeAssigneesFromAssignable": remove_assignees,
    "removeLabelsFromLabelable": remove_labels,
    "replaceActorsForAssignable": replace_actors,
}
