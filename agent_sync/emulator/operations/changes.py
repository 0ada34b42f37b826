"""The smallest changes, which refuse nothing: every larger operation is made of them."""

from dataclasses import dataclass
from datetime import date

from agent_sync.emulator.world.boards import Field, FieldValue, Item
from agent_sync.emulator.world.conversations import Conversation, Event, Issue
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.world import World


@dataclass(frozen=True)
class NewValue:
    """What a caller wants in a field; which one is set must fit the field's type."""

    text: str | None = None
    number: float | None = None
    day: date | None = None
    option_id: str | None = None
    iteration_id: str | None = None


def record(
    world: World,
    conversation: Conversation,
    kind: str,
    *,
    by: User,
    subject: str | None = None,
    commit: str | None = None,
    previous: str | None = None,
) -> None:
    """Add an entry to the history and mark the conversation as touched now."""
    now = world.clock.now()
    identity = world.identify("E")
    event = Event(
        identity=identity, kind=kind, actor=by, created_at=now, subject=subject, commit=commit, previous=previous
    )
    conversation.events.append(event)
    conversation.updated_at = now


def mark_closed(world: World, conversation: Conversation, *, by: User, reason: str | None = None) -> None:
    """Close an issue or pull request."""
    conversation.is_open = False
    conversation.closed_at = world.clock.now()
    conversation.closed_by = by
    if isinstance(conversation, Issue):
        conversation.state_reason = reason or "completed"
    record(world, conversation, "closed", by=by)


def mark_open(world: World, conversation: Conversation, *, by: User) -> None:
    """Reopen an issue or pull request."""
    conversation.is_open = True
    conversation.closed_at = None
    conversation.closed_by = None
    if isinstance(conversation, Issue):
        conversation.state_reason = "reopened"
    record(world, conversation, "reopened", by=by)


def store_value(world: World, item: Item, field: Field, value: NewValue, *, by: User) -> None:
    """Put a value into one field of an item."""
    now = world.clock.now()
    before = item.values.get(field.id)
    item.values[field.id] = FieldValue(
        identity=before.identity if before else world.identify("PVTFV"),
        creator=before.creator if before else by,
        created_at=before.created_at if before else now,
        updated_at=now,
        text=value.text,
        number=value.number,
        day=value.day,
        option_id=value.option_id,
        iteration_id=value.iteration_id,
    )
    item.updated_at = item.project.updated_at = now
