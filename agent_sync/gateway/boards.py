"""Reads the board as a whole: its columns in one request, its issues page by page."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agent_sync.gateway.cards import board_variables, options_of, values_of
from agent_sync.gateway.transport.answer import Answer, Json, nodes_of
from agent_sync.gateway.transport.asking import demanded, thing_at
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.tokens import Area
from agent_sync.settings.tables import Board
from agent_sync.task.decision.tasks import BoardIssue, BoardSeen

PROJECT = ("boardOwner", "projectV2")
_MARKS = re.compile(r'["\\]')
COLUMNS = ("ready", "inProgress", "inReview", "done")


def board(line: Line) -> BoardSeen | None:
    """Return the columns of the board and the cards of the first three; None where none is configured."""
    if line.settings.project.number is None:
        return None
    names = _column_names(line.settings.board)
    values = board_variables(line) | {
        column: column_filter(line.settings.board.status_field, name) for column, name in names.items()
    }
    call = _call("board", values)
    answer = line.send(call)
    if answer.is_unknown_to_server:
        return _counted(line)
    project = thing_at(_usable(line, answer, call), call, *PROJECT)
    counts = {column: int(project[column]["totalCount"]) for column in COLUMNS}
    found = {column: _issues(project[column], line.settings.board) for column in COLUMNS}
    return _seen(project, line.settings.board, counts, found)


def board_issues(line: Line, text: str = "") -> Iterator[BoardIssue]:
    """Return every issue on the board whose title has `text`, page by page."""
    if line.settings.project.number is None:
        return
    wanted = text.casefold()
    for _, page in _pages(line, title_filter(text)):
        yield from (issue for issue in page if wanted in issue.title.casefold())


def column_filter(field: str, name: str) -> str:
    """Return the board's own filter for one column; field names have dashes for spaces there."""
    # The filter knows no way to write a quotation mark; a star stands for it.
    return f'{field.lower().replace(" ", "-")}:"{_MARKS.sub("*", name)}"'


def title_filter(text: str) -> str:
    """Return the board's own filter for issues with all of this in their title; we look again ourselves."""
    pieces = (piece.strip() for piece in _MARKS.split(text))
    return " ".join(["is:issue", *(f'"{piece}"' for piece in pieces if piece)])


def _counted(line: Line) -> BoardSeen:
    """Count the columns by hand, on servers whose boards cannot be filtered."""
    names = _column_names(line.settings.board)
    by_column: dict[str, list[BoardIssue]] = {column: [] for column in COLUMNS}
    project: Json = {}
    for project, page in _pages(line, ""):  # noqa: B007  # every page shows the same project
        for issue in page:
            status = (issue.status or "").casefold()
            column = next((column for column, name in names.items() if name.casefold() == status), None)
            if column:
                by_column[column].append(issue)
    counts = {column: len(issues) for column, issues in by_column.items()}
    return _seen(project, line.settings.board, counts, {name: tuple(issues) for name, issues in by_column.items()})


def _seen(project: Json, names: Board, counts: dict[str, int], found: dict[str, tuple[BoardIssue, ...]]) -> BoardSeen:
    wanted = _column_names(names)
    shown = {name.casefold(): name for name, _ in options_of(project, names.status_field)}
    return BoardSeen(
        title=str(project.get("title") or ""),
        url=str(project.get("url") or ""),
        counts=tuple((shown.get(wanted[column].casefold(), wanted[column]), counts[column]) for column in COLUMNS),
        ready=found["ready"],
        in_progress=found["inProgress"],
        in_review=found["inReview"],
        priorities=tuple(name for name, _ in options_of(project, names.priority_field)),
    )


def _pages(line: Line, query: str) -> Iterator[tuple[Json, list[BoardIssue]]]:
    call = _call("board_page", board_variables(line) | {"query": query, "after": None})
    while True:
        answer = line.send(call)
        if answer.is_unknown_to_server and call.document == "board_page":
            values = {name: value for name, value in call.variables.items() if name != "query"}
            call = replace(call, document="board_page_plain", variables=values)
            continue
        project = thing_at(_usable(line, answer, call), call, *PROJECT)
        yield project, list(_issues(project["items"], line.settings.board))
        page = project["items"].get("pageInfo") or {}
        if not page.get("hasNextPage"):
            return
        call = replace(call, variables=call.variables | {"after": page["endCursor"]})


def _usable(line: Line, answer: Answer, call: Call) -> Answer:
    """Let single cards be hidden from this token: the others still count."""
    cards = tuple((*PROJECT, part) for part in ("items", *COLUMNS)) if answer.at(*PROJECT) else ()
    return demanded(line, answer, call, *cards)


def _call(document: str, values: dict[str, Any]) -> Call:
    owner, number = values["boardOwner"], values["boardNumber"]
    return Call(document, values, f"reading board {number} of {owner}", Area.BOARD)


def _column_names(names: Board) -> dict[str, str]:
    return dict(zip(COLUMNS, (names.ready, names.in_progress, names.in_review, names.done), strict=True))


def _issues(connection: Any, names: Board) -> tuple[BoardIssue, ...]:
    nodes = nodes_of(connection)
    return tuple(_issue(node, node["content"], names) for node in nodes if "number" in (node.get("content") or {}))


def _issue(item: Json, content: Json, names: Board) -> BoardIssue:
    values = values_of(item)
    parts = content.get("subIssuesSummary") or {"total": 0, "completed": 0}
    return BoardIssue(
        number=int(content["number"]),
        title=str(content["title"]),
        url=str(content["url"]),
        status=values.of(names.status_field),
        priority=values.of(names.priority_field),
        agent=values.of(names.agent_field),
        assignees=tuple(str(person["login"]) for person in nodes_of(content.get("assignees"))),
        is_open=content.get("issueState") == "OPEN",
        created=str(content.get("createdAt") or ""),
        open_blockers=int((content.get("issueDependenciesSummary") or {}).get("blockedBy") or 0),
        open_sub_issues=int(parts["total"]) - int(parts["completed"]),
    )
