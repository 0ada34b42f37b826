"""Asks questions: what must be in the answer, what may be missing, and what to do without the board."""

from dataclasses import replace
from typing import Any

from agent_sync.errors import NotFound
from agent_sync.gateway.cards import BOARD_PLACES, ISSUE, ITEMS, board_variables, find_card
from agent_sync.gateway.transport.answer import Answer, Json, Path
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.tokens import Area
from agent_sync.task.decision.facts import Card, NoCard


def ask(line: Line, call: Call, *optional: Path) -> Answer:
    """Send a question; an error about anything but the optional places is raised."""
    return demanded(line, line.send(call), call, *optional)


def demanded(line: Line, answer: Answer, call: Call, *optional: Path) -> Answer:
    """Return the answer if nothing but the optional places failed in it."""
    part = answer.trouble_outside(*optional)
    if part:
        raise line.failures.of_part(part, call)
    return answer


def thing_at(answer: Answer, call: Call, *place: str) -> Json:
    """Return what must be at a place; GitHub answers null for what this token may not see."""
    found = answer.at(*place)
    if not isinstance(found, dict):
        message = f"GitHub shows no {place[-1]} there; it does not exist, or this token may not see it."
        raise NotFound(message, attempted=call.attempted, helps="agent-sync doctor")
    return found


def ask_with_card(line: Line, call: Call, *optional: Path, fallback: str = "") -> tuple[Answer, Card | NoCard]:
    """Ask about an issue and its card; where the board is out of reach, ask again without it.

    `fallback` names the document for servers that do not know every field of the first one.
    """
    wanted = replace(call, variables=call.variables | board_variables(line))
    answer = line.send(_with_board(wanted, is_wanted=line.settings.project.number is not None))
    if fallback and answer.is_unknown_to_server:
        wanted = replace(wanted, document=fallback)
        answer = line.send(_with_board(wanted, is_wanted=line.settings.project.number is not None))
    places = (*BOARD_PLACES, *optional)
    if not _is_spoilt_by_board(answer):
        return demanded(line, answer, call, *places), find_card(line, answer, call)
    card = NoCard(_why(line, answer, call))
    return demanded(line, line.send(_with_board(wanted, is_wanted=False)), call, *places), card


def _with_board(call: Call, *, is_wanted: bool) -> Call:
    values: dict[str, Any] = call.variables | {"board": is_wanted}
    return replace(call, variables=values)


def _is_spoilt_by_board(answer: Answer) -> bool:
    """Tell whether trouble with the board took the rest of the answer with it."""
    return answer.lacks_scope or (answer.trouble_at(*ITEMS) is not None and not answer.at(*ISSUE))


def _why(line: Line, answer: Answer, call: Call) -> str:
    part = answer.trouble_at(*ITEMS) or answer.parts[0]
    return str(line.failures.of_part(part, call, area=Area.BOARD))
