"""Reads a board's issues page by page, and its columns as the board orders them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from agent_sync.gateway.board_filters import column_filter, empty_filter, title_filter
from agent_sync.gateway.board_items import issues_in
from agent_sync.gateway.cards import follow_rename, listing_variables, options_of
from agent_sync.gateway.transport.answer import GraphQLAnswer, Json
from agent_sync.gateway.transport.line import Call, Line, thing_at
from agent_sync.gateway.transport.token import Area
from agent_sync.gateway.weight import LIGHT_PAGE, send_by_weight
from agent_sync.task.decision.tasks import BoardColumn, BoardIssue

PROJECT = ("boardOwner", "projectV2")
NO_STATUS = "No status"
# How many columns one request asks for.
AT_ONCE = 6
LARGEST_PAGE = 100


class BoardPages(Line):
    """Every issue of the board, of whatever repository."""

    def board_issues(self, text: str = "") -> Iterator[BoardIssue]:
        """Return every issue on the board, or those of this repository whose title has `text`, page by page."""
        if self.settings.project.number is None:
            return
        wanted = text.casefold()
        for _, page in pages(self, text):
            yield from (issue for issue in page if not text or (issue.is_here and wanted in issue.title.casefold()))

    def board_columns(self, limit: int) -> tuple[BoardColumn, ...]:
        """Return the columns in the board's own order, each with its first `limit` issues; 0 means all."""
        if limit == 0 or limit > LARGEST_PAGE:
            return _by_hand(self, limit)
        found: dict[str, BoardColumn] = {}
        # The first answer tells what the columns are called, and brings those that could be guessed.
        order, names = [""], _guessed(self)
        while names:
            project, columns = _ask_columns(self, names, limit)
            if project is None:
                return _by_hand(self, limit)
            found |= columns
            order = [*(name for name, _ in options_of(project, self.settings.board.status_field)), ""]
            names = [name for name in order if name.casefold() not in found][:AT_ONCE]
        shown = (replace(found[name.casefold()], name=name) for name in order)
        return tuple(replace(one, name=one.name or NO_STATUS) for one in shown if one.name or one.count)


def board_call(line: Line, document: str, values: dict[str, Any]) -> Call:
    """Return a question about the board."""
    named = listing_variables(line) | values
    return Call(document, named, f"reading board {named['boardNumber']} of {named['boardOwner']}", Area.BOARD)


def usable(line: Line, answer: GraphQLAnswer, call: Call) -> GraphQLAnswer:
    """Let single cards, and the repository, be hidden from this token: the others still count."""
    project = answer.at(*PROJECT)
    cards = tuple((*PROJECT, part) for part in project if part != "fields") if isinstance(project, dict) else ()
    return line.require(answer, call, ("repository",), *cards)


def pages(line: Line, text: str) -> Iterator[tuple[Json, list[BoardIssue]]]:
    """Return the board's issues by hundreds, or those of this repository with a text in their title."""
    call = board_call(line, "board_page", _page_variables(line, text) | {"after": None})
    while True:
        answer = send_by_weight(line, call, page=LARGEST_PAGE)
        if answer.is_unknown_to_server and call.document == "board_page":
            values = {name: value for name, value in call.variables.items() if name != "query"}
            call = replace(call, document="board_page_plain", variables=values)
            continue
        if follow_rename(line, answer):
            # The filter was for the old name.
            call = replace(call, variables=call.variables | listing_variables(line) | _page_variables(line, text))
            continue
        project = thing_at(usable(line, answer, call), call, *PROJECT)
        yield project, list(issues_in(line, answer, project["items"]))
        page = project["items"].get("pageInfo") or {}
        if not page.get("hasNextPage"):
            return
        call = replace(call, variables=call.variables | {"after": page["endCursor"]})


def _page_variables(line: Line, text: str) -> dict[str, Any]:
    return line.names | {"query": title_filter(text, line.repository.full_name if text else "")}


def _ask_columns(line: Line, names: Sequence[str], limit: int) -> tuple[Json | None, dict[str, BoardColumn]]:
    """Return the board and some of its columns; no board where the server cannot filter it."""
    call = board_call(line, "board_columns", _filters(line, names))
    answer = send_by_weight(line, call, page=limit, light_page=min(limit, LIGHT_PAGE))
    if answer.is_unknown_to_server:
        return None, {}
    if follow_rename(line, answer) and line.board_owner:
        call = board_call(line, "board_columns", _filters(line, names))
        answer = send_by_weight(line, call, page=limit, light_page=min(limit, LIGHT_PAGE))
    project = thing_at(usable(line, answer, call), call, *PROJECT)
    return project, {name.casefold(): _column(line, answer, project, place) for place, name in enumerate(names, 1)}


def _guessed(line: Line) -> list[str]:
    board = line.settings.board
    names = dict.fromkeys((board.ready, board.in_progress, board.in_review, board.done))
    return [*filter(None, names), ""]


def _filters(line: Line, names: Sequence[str]) -> dict[str, Any]:
    """Return the filter of each column that is asked for; the one without a name is that of cards without a status."""
    field = line.settings.board.status_field
    padded = [*names, *[None] * (AT_ONCE - len(names))]
    values: dict[str, Any] = dict(line.names)
    for place, name in enumerate(padded, 1):
        query = column_filter(field, name) if name else f"is:issue {empty_filter(field)}"
        values |= {f"query{place}": query, f"has{place}": name is not None}
    return values


def _column(line: Line, answer: GraphQLAnswer, project: Json, place: int) -> BoardColumn:
    connection = project.get(f"column{place}") or {}
    return BoardColumn("", int(connection.get("totalCount") or 0), issues_in(line, answer, connection))


def _by_hand(line: Line, limit: int) -> tuple[BoardColumn, ...]:
    """Sort every issue of the board into columns."""
    columns: dict[str, list[BoardIssue]] = {}
    for project, page in pages(line, ""):
        for name, _ in options_of(project, line.settings.board.status_field):
            columns.setdefault(name, [])
        for issue in page:
            columns.setdefault(issue.status or NO_STATUS, []).append(issue)
    cut = limit or None
    return tuple(BoardColumn(name, len(issues), tuple(issues[:cut])) for name, issues in columns.items())
