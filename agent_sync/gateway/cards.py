"""Reads the task's card out of answers, or says in a sentence why there is none."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agent_sync.gateway.transport.answer import Answer, Json, nodes_of
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.tokens import Area
from agent_sync.settings.tables import Board
from agent_sync.task.decision.facts import Card, NoCard

ISSUE = ("repository", "issue")
ITEMS = (*ISSUE, "projectItems")
OWNER = ("boardOwner",)
# Trouble with these never keeps a task from its pull request or its close.
BOARD_PLACES = (ITEMS, OWNER)
NO_PROJECT = "No board is configured: set project.number in .agent-sync.toml, or AGENT_SYNC_PROJECT_NUMBER."


@dataclass(frozen=True)
class Values:
    """What a card shows, by the lower-cased names of its fields."""

    by_field: dict[str, str]

    def of(self, field: str) -> str | None:
        """Return what the field of this name shows."""
        return self.by_field.get(field.casefold()) or None


def values_of(item: Json) -> Values:
    """Return the texts and choices on one item."""
    shown = {}
    for value in nodes_of(item.get("fieldValues")):
        name = (value.get("field") or {}).get("name")
        text = value.get("text") if "text" in value else value.get("option")
        if name and text:
            shown[str(name).casefold()] = str(text)
    return Values(shown)


def field_of(project: Json, name: str, kind: str) -> Json | None:
    """Return a field by its name, whatever its case, if it is of that kind."""
    wanted = name.casefold()
    fields = nodes_of(project.get("fields"))
    return next((f for f in fields if str(f.get("name")).casefold() == wanted and f.get("dataType") == kind), None)


def options_of(project: Json, name: str) -> tuple[tuple[str, str], ...]:
    """Return name and id of every option of a single-select field."""
    field = field_of(project, name, "SINGLE_SELECT") or {}
    return tuple((str(option["name"]), str(option["id"])) for option in field.get("options") or ())


def card_of(item: Json, project: Json, names: Board) -> Card:
    """Return a card: where it is, what it says, and what could be written there."""
    values = values_of(item)
    status = field_of(project, names.status_field, "SINGLE_SELECT")
    agent = field_of(project, names.agent_field, "TEXT")
    return Card(
        project_id=str(project["id"]),
        item_id=str(item["id"]),
        is_archived=bool(item.get("isArchived")),
        status=values.of(names.status_field),
        agent=values.of(names.agent_field),
        status_field_id=str(status["id"]) if status else None,
        options=options_of(project, names.status_field),
        agent_field_id=str(agent["id"]) if agent else None,
    )


def board_variables(line: Line) -> dict[str, Any]:
    """Return the variables that name the board."""
    project = line.settings.project
    owner = project.owner or line.repository.owner
    return {"boardOwner": owner, "boardNumber": project.number or 0}


def find_card(line: Line, answer: Answer, call: Call) -> Card | NoCard:
    """Return the issue's card on the configured board."""
    project = line.settings.project
    if project.number is None:
        return NoCard(NO_PROJECT)
    board = answer.at(*OWNER, "projectV2")
    if not board:
        return NoCard(_no_board(line, answer, call))
    item = item_on(answer, board)
    if item:
        return card_of(item, board, line.settings.board)
    hidden = answer.trouble_at(*ITEMS)
    if hidden:
        return NoCard(str(line.failures.of_part(hidden, call, area=Area.BOARD)))
    if not answer.at(*ISSUE):
        return NoCard("The issue was not found, so it has no card.")
    return NoCard(f"The issue is not on {_name(line)}: add it there by hand.")


def item_on(answer: Answer, board: Json) -> Json | None:
    """Return the issue's item on a board; an archived one only where there is no other."""
    items = [item for item in answer.nodes(*ITEMS) if _project_id(item) == board["id"]]
    return _first(item for item in items if not item.get("isArchived")) or _first(items)


def _first(items: Iterable[Json]) -> Json | None:
    return next(iter(items), None)


def _project_id(item: Json) -> str:
    return str((item.get("project") or {}).get("id"))


def _name(line: Line) -> str:
    wanted = board_variables(line)
    return f"board {wanted['boardNumber']} of {wanted['boardOwner']}"


def _no_board(line: Line, answer: Answer, call: Call) -> str:
    part = answer.trouble_at(*OWNER)
    if part is None or part.kind == "NOT_FOUND":
        return f"There is no {_name(line)}, or this token cannot see it: check project.owner and project.number."
    return str(line.failures.of_part(part, call, area=Area.BOARD))
