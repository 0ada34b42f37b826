"""The built-in workflows of a board, off unless switched on: Done follows closing, closing follows Done."""

from agent_sync.emulator.operations.changes import NewValue, mark_closed, store_value
from agent_sync.emulator.world.boards import Field, Item
from agent_sync.emulator.world.conversations import Conversation, Issue
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.world import World

STATUS = "Status"
DONE = "Done"


def after_closing(world: World, conversation: Conversation, *, by: User) -> None:
    """Move the cards of a closed issue or merged pull request to Done."""
    for item in conversation.items:
        field = item.project.field_named(STATUS)
        done = field.option(DONE) if field else None
        if item.project.automation and not item.archived and field and done:
            store_value(world, item, field, NewValue(option_id=done.id), by=by)


def after_moving(world: World, item: Item, field: Field, *, by: User) -> None:
    """Close the issue whose card has just been moved to Done."""
    if not item.project.automation or field.name != STATUS or not isinstance(item.content, Issue):
        return
    option = field.option_by_id(item.values[field.id].option_id)
    if option and option.name == DONE and item.content.is_open:
        mark_closed(world, item.content, by=by)
