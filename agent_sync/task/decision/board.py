"""Decides what can be written on a card, and says in a sentence why it cannot."""

from agent_sync.task.decision.actions import CardChange
from agent_sync.task.decision.facts import Card, NoCard


def card_change(card: Card | NoCard, *, status: str, agent: str) -> tuple[CardChange | None, str]:
    """Return the change that makes the card say this, and what is wrong with the board, if anything."""
    if isinstance(card, NoCard):
        return None, card.reason
    if card.is_archived:
        return None, "The task's card is archived and cannot be moved."
    trouble = _status_trouble(card, status)
    return CardChange(card, "" if trouble else status, agent), trouble


def option_id(card: Card, status: str) -> str | None:
    """Return the id of a status on this board; case does not matter, as on the board itself."""
    wanted = status.casefold()
    return next((identity for name, identity in card.options if name.casefold() == wanted), None)


def _status_trouble(card: Card, status: str) -> str:
    if card.status_field_id is None:
        return "The board has no Status field of the configured name."
    if option_id(card, status) is None:
        options = ", ".join(name for name, _ in card.options)
        return f'The board has no status "{status}". It has: {options}.'
    return ""
