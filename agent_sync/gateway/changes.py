"""Turns a card change into the variables of a mutation: each part only where something differs."""

from dataclasses import dataclass, replace
from typing import Any

from agent_sync.errors import Refused
from agent_sync.gateway.cards import card_of
from agent_sync.gateway.transport.answer import Answer, Part
from agent_sync.gateway.transport.asking import demanded, thing_at
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.tokens import Area
from agent_sync.task.decision.actions import CardChange
from agent_sync.task.decision.board import option_id
from agent_sync.task.decision.facts import Card

CARD_PARTS = ("status", "noStatus", "agent", "noAgent")
# How GitHub says that an option's id was given to it anew since it was read.
_REISSUED = "does not belong to the field"


@dataclass(frozen=True)
class CardParts:
    """What is written on a card: None leaves a field alone, an empty text clears it."""

    card: Card | None = None
    option: str | None = None
    agent: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return self.option is None and self.agent is None

    @property
    def variables(self) -> dict[str, Any]:
        """The variables every mutation with a card takes."""
        card = self.card
        return {
            "project": card.project_id if card else "",
            "item": card.item_id if card else "",
            "statusField": (card.status_field_id or "") if card else "",
            "option": self.option or "",
            "agentField": (card.agent_field_id or "") if card else "",
            "agent": self.agent or "",
            "setStatus": bool(self.option),
            "clearStatus": self.option == "",
            "setAgent": bool(self.agent),
            "clearAgent": self.agent == "",
        }


NO_PARTS = CardParts()


def parts_of(change: CardChange | None) -> CardParts:
    """Return what must be written so that the card says what the change says."""
    if change is None:
        return NO_PARTS
    return CardParts(change.card, _option(change), _agent(change))


def undone(change: CardChange, answer: Answer) -> CardParts:
    """Return what puts back the fields that an answer says were written."""
    card = change.card
    before = (option_id(card, card.status) if card.status else None) or ""
    moved = answer.at("status") is not None
    named = answer.at("agent") is not None or answer.at("noAgent") is not None
    return CardParts(card, before if moved else None, (card.agent or "") if named else None)


def refused_part(answer: Answer) -> Part | None:
    """Return what was wrong with the card's parts of an answer."""
    return next((part for name in CARD_PARTS if (part := answer.trouble_at(name))), None)


def is_reissued(part: Part) -> bool:
    """Tell whether an option's id was out of date."""
    return _REISSUED in part.message


def reread(line: Line, change: CardChange) -> CardChange:
    """Return the same change with the card's ids as they are now."""
    call = Call("card_again", {"item": change.card.item_id}, "reading the card again", Area.BOARD)
    answer = demanded(line, line.send(call), call)
    item = thing_at(answer, call, "node")
    project = thing_at(answer, call, "node", "project")
    return replace(change, card=card_of(item, project, line.settings.board))


def _option(change: CardChange) -> str | None:
    card, status = change.card, change.status
    if not status or (card.status or "").casefold() == status.casefold():
        return None
    found = option_id(card, status)
    if found is None or card.status_field_id is None:
        known = ", ".join(name for name, _ in card.options)
        raise Refused(f'The board has no status "{status}". It has: {known}.', attempted="moving the card")
    return found


def _agent(change: CardChange) -> str | None:
    card = change.card
    if card.agent_field_id is None or (card.agent or "") == change.agent:
        return None
    return change.agent
