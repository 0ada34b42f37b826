"""Reads the task's card out of answers, or says in a sentence why there is none."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from agent_sync.errors import GitHubError
from agent_sync.gateway.transport.answer import GraphQLAnswer, Json, Path, nodes_of
from agent_sync.gateway.transport.line import Call, Line
from agent_sync.gateway.transport.token import Area
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.settings.tables import BoardSettings
from agent_sync.task.decision.facts import Card, NoCard

ISSUE = ("repository", "issue")
ITEMS = (*ISSUE, "projectItems")
OWNER = ("boardOwner",)
# Trouble with these never keeps a task from its pull request or its close.
BOARD_PLACES = (ITEMS, OWNER)
NO_PROJECT = "No board is configured: set project.number in .agent-sync.toml, or AGENT_SYNC_PROJECT_NUMBER."


@dataclass(frozen=True)
class Values:
    """What a card shows; the agent is that of a text field, for a choice is a planner's wish and no holder."""

    status: str | None
    agent: str | None
    priority: str | None


def values_of(item: Json) -> Values:
    """Return the texts and choices on one item."""
    priority = item.get("priority") or {}
    # An organisation's issue field shows what the issue holds.
    held = priority.get("issueFieldValue") or priority
    return Values(_text(item.get("status"), "option"), _text(item.get("agent"), "text"), _text(held, "option"))


def _text(value: Any, key: str) -> str | None:
    return str(value[key]) if isinstance(value, dict) and value.get(key) else None


def field_of(project: Json, name: str, kind: str) -> Json | None:
    """Return a field by its name, whatever its case, if it is of that kind."""
    wanted = name.casefold()
    fields = nodes_of(project.get("fields"))
    return next((f for f in fields if str(f.get("name")).casefold() == wanted and f.get("dataType") == kind), None)


def options_of(project: Json, name: str) -> tuple[tuple[str, str], ...]:
    """Return name and id of every option of a single-select field."""
    field = field_of(project, name, "SINGLE_SELECT") or {}
    return tuple((str(option["name"]), str(option["id"])) for option in field.get("options") or ())


def card_of(item: Json, project: Json, names: BoardSettings) -> Card:
    """Return a card: where it is, what it says, and what could be written there."""
    values = values_of(item)
    status = field_of(project, names.status_field, "SINGLE_SELECT")
    agent = field_of(project, names.agent_field, "TEXT")
    return Card(
        project_id=str(project["id"]),
        item_id=str(item["id"]),
        is_archived=bool(item.get("isArchived")),
        status=values.status,
        agent=values.agent,
        status_field_id=str(status["id"]) if status else None,
        options=options_of(project, names.status_field),
        agent_field_id=str(agent["id"]) if agent else None,
    )


def board_owner(line: Line) -> str:
    """Return who owns the board."""
    return line.board_owner or line.settings.project.owner or line.repository.owner


def board_variables(line: Line) -> dict[str, Any]:
    """Return the variables that name the board."""
    return {"boardOwner": board_owner(line), "boardNumber": line.settings.project.number or 0}


def card_variables(line: Line) -> dict[str, Any]:
    """Return the variables that name the fields of a card that are written."""
    names = line.settings.board
    return {"statusName": names.status_field, "agentName": names.agent_field}


def listing_variables(line: Line) -> dict[str, Any]:
    """Return the variables that name the board and every field of a card that is read."""
    priority = {"priorityName": line.settings.board.priority_field}
    return board_variables(line) | card_variables(line) | priority


def follow_rename(line: Line, answer: GraphQLAnswer) -> bool:
    """Learn the repository's present name from an answer; tell whether the board must be asked for again.

    GitHub leads an old name of a repository to the new one, but neither a board's filter nor the login of an owner.
    """
    current = answer.at("repository", "nameWithOwner")
    if not isinstance(current, str) or is_same_name(current, line.repository.full_name):
        return _follow_board_owner(line, answer)
    owner, _, name = current.partition("/")
    if answer.at(*OWNER, "projectV2") is None and is_same_name(board_owner(line), line.repository.owner):
        line.board_owner = owner
    line.repository = replace(line.repository, owner=owner, name=name)
    return True


def _follow_board_owner(line: Line, answer: GraphQLAnswer) -> bool:
    """Learn the present login of a board's owner from the boards that are linked to the repository."""
    number = line.settings.project.number
    is_gone = OWNER[0] in answer.data and answer.at(*OWNER) is None and _is_not_found(answer)
    if number is None or line.board_owner or not is_gone:
        return False
    call = Call("linked_boards", dict(line.names), f"looking for board {number}", Area.BOARD)
    try:
        boards = line.ask(call).nodes("repository", "projectsV2")
    except GitHubError:
        return False
    found = {owner_in(str(board.get("url") or "")) for board in boards if board.get("number") == number} - {""}
    # Two boards of one number are no answer.
    line.board_owner = found.pop() if len(found) == 1 else ""
    return bool(line.board_owner)


def _is_not_found(answer: GraphQLAnswer) -> bool:
    part = answer.trouble_at(*OWNER)
    return part is None or part.kind == "NOT_FOUND"


def owner_in(url: str) -> str:
    """Return whose a board is from its address: to be told an organisation's name takes a scope of its own."""
    steps = url.rstrip("/").split("/")
    return steps[-3] if len(steps) > 3 and steps[-4] in {"orgs", "users"} else ""  # noqa: PLR2004  # orgs/X/projects/N


def is_same_name(one: str, other: str) -> bool:
    """Tell whether two names of owners or repositories are the same; case means nothing in them."""
    return one.casefold() == other.casefold()


def find_card(line: Line, answer: GraphQLAnswer, call: Call) -> Card | NoCard:
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
    return NoCard(f"The issue is not on {_name(line)}: add it there by hand.", str(board["id"]))


def item_on(answer: GraphQLAnswer, board: Json) -> Json | None:
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


def _no_board(line: Line, answer: GraphQLAnswer, call: Call) -> str:
    part = answer.trouble_at(*OWNER)
    if part is None or part.kind == "NOT_FOUND":
        return f"There is no {_name(line)}, or this token cannot see it: check project.owner and project.number."
    return str(line.failures.of_part(part, call, area=Area.BOARD))


def ask_with_card(line: Line, call: Call, *optional: Path, fallback: str = "") -> tuple[GraphQLAnswer, Card | NoCard]:
    """Ask about an issue and its card; where the board is out of reach, ask again without it.

    `fallback` names the document for servers that do not know every field of the first one.
    """
    is_wanted = line.settings.project.number is not None
    wanted = replace(call, variables=call.variables | card_variables(line))
    answer = line.send(_with_board(line, wanted, is_wanted=is_wanted))
    if fallback and (answer.is_unknown_to_server or (answer.too_heavy and not _is_spoilt_by_board(answer))):
        wanted = replace(wanted, document=fallback)
        answer = line.send(_with_board(line, wanted, is_wanted=is_wanted))
    if follow_rename(line, answer) and is_wanted and line.board_owner:
        answer = line.send(_with_board(line, wanted, is_wanted=True))
    places = (*BOARD_PLACES, *optional)
    if not _is_spoilt_by_board(answer):
        return line.require(answer, call, *places), find_card(line, answer, call)
    card = NoCard(_why(line, answer, call))
    return line.require(line.send(_with_board(line, wanted, is_wanted=False)), call, *places), card


def _with_board(line: Line, call: Call, *, is_wanted: bool) -> Call:
    values: dict[str, Any] = call.variables | board_variables(line) | {"board": is_wanted}
    return replace(call, variables=values)


def _is_spoilt_by_board(answer: GraphQLAnswer) -> bool:
    """Tell whether trouble with the board took the rest of the answer with it."""
    heavy = answer.too_heavy
    if heavy and any(heavy.is_within(*place) for place in BOARD_PLACES):
        return True
    return answer.lacks_scope or (answer.trouble_at(*ITEMS) is not None and not answer.at(*ISSUE))


def _why(line: Line, answer: GraphQLAnswer, call: Call) -> str:
    part = answer.too_heavy or answer.trouble_at(*ITEMS) or answer.parts[0]
    return str(line.failures.of_part(part, call, area=Area.BOARD))
