"""Reads the board as this repository sees it: the columns in one request, and its most urgent tasks."""

from dataclasses import replace
from typing import Any

from agent_sync.gateway.board_filters import column_filter, empty_filter, field_filter
from agent_sync.gateway.board_items import issues_in, own_issues
from agent_sync.gateway.board_pages import BoardPages, board_call, pages, usable
from agent_sync.gateway.cards import board_owner, board_variables, follow_rename, options_of, owner_in
from agent_sync.gateway.issue_briefs import brief_in
from agent_sync.gateway.transport.answer import Json, nodes_of
from agent_sync.gateway.transport.line import Call, Line, thing_at
from agent_sync.gateway.transport.token import Area
from agent_sync.gateway.weight import LIGHT_PAGE, send_by_weight
from agent_sync.settings.tables import BoardSettings
from agent_sync.task.decision.tasks import BoardField, BoardIssue, BoardSeen, BoardShape

PROJECT = ("boardOwner", "projectV2")
COLUMNS = ("ready", "inProgress", "inReview", "done")
_URGENT = ("first", "second", "third")


class BoardReads(BoardPages):
    """The board as a whole."""

    def board(self, issue: int | None = None) -> BoardSeen | None:
        """Return the columns of the board and the cards of the first three; None where none is configured."""
        if self.settings.project.number is None:
            return None
        asked = {"issue": issue or 0, "withIssue": issue is not None}
        call = board_call(self, "board", _column_variables(self) | asked)
        answer = send_by_weight(self, call)
        if answer.is_unknown_to_server:
            call = replace(call, document="board_filtered")
            answer = send_by_weight(self, call)
        if answer.is_unknown_to_server:
            return _count_columns(self)
        if follow_rename(self, answer):
            answer = send_by_weight(self, board_call(self, call.document, _column_variables(self) | asked))
        project = thing_at(usable(self, answer, call), call, *PROJECT)
        shown = {column: project[column] for column in COLUMNS if column in project}
        counts = {column: int(connection["totalCount"]) for column, connection in shown.items()}
        found = {column: own_issues(issues_in(self, answer, connection)) for column, connection in shown.items()}
        is_cut = counts["ready"] > len(nodes_of(shown["ready"]))
        if is_cut and call.document == "board":
            found["ready"] = _with_urgent(self, project, found["ready"])
        elsewhere = int(project["readyAnywhere"]["totalCount"]) - counts["ready"]
        seen = _board_seen(project, self.settings.board, counts, found, elsewhere=max(0, elsewhere))
        return replace(seen, brief=brief_in(self, answer.at("repository", "issue")))

    def boards(self) -> tuple[BoardShape, ...]:
        """Return the configured board; else those linked to the repository, else those of its owner."""
        is_configured = self.settings.project.number is not None
        values = self.names | board_variables(self) | {"configured": is_configured}
        call = Call("boards", values, f"looking for the boards of {values['boardOwner']}", Area.BOARD)
        answer = self.ask(call, ("repository",)) if is_configured else self.ask(call)
        if follow_rename(self, answer) and self.board_owner:
            call = replace(call, variables=values | self.names | board_variables(self))
            answer = self.ask(call, ("repository",))
        if is_configured:
            found = answer.at("boardOwner", "projectV2")
            return (_shape(self, found),) if found else ()
        linked = answer.nodes("repository", "projectsV2")
        open_ones = _open(linked) or _open(answer.nodes("boardOwner", "projectsV2"))
        return tuple(_shape(self, project) for project in open_ones)


def _column_variables(line: Line) -> dict[str, Any]:
    """Return the filters of the columns; a column without a name is not asked for."""
    field, here = line.settings.board.status_field, line.repository.full_name
    names = _column_names(line.settings.board)
    filters: dict[str, Any] = {column: column_filter(field, name, here) for column, name in names.items()}
    filters |= {f"has{column[0].upper()}{column[1:]}": bool(names[column]) for column in COLUMNS[1:]}
    return line.names | filters | {"readyAnywhere": column_filter(field, names["ready"])}


def _with_urgent(line: Line, project: Json, ready: tuple[BoardIssue, ...]) -> tuple[BoardIssue, ...]:
    """Add the most urgent of a column that is longer than its first page; a board cannot be sorted by priority."""
    names = line.settings.board
    priorities = [name for name, _ in options_of(project, names.priority_field)]
    if not priorities:
        return ready
    groups = [priorities[:1], priorities[1:2], priorities[2:]]
    column = column_filter(names.status_field, names.ready, line.repository.full_name)
    field = names.priority_field
    filters = (field_filter(field, group) if group else empty_filter(field) for group in groups)
    values = {name: f"{column} {ranked}" for name, ranked in zip(_URGENT, filters, strict=True)}
    call = board_call(line, "board_urgent", values)
    answer = send_by_weight(line, call, page=LIGHT_PAGE, light_page=LIGHT_PAGE)
    found = thing_at(usable(line, answer, call), call, *PROJECT)
    urgent = (issue for name in _URGENT for issue in own_issues(issues_in(line, answer, found.get(name))))
    return tuple({issue.number: issue for issue in (*urgent, *ready)}.values())


def _count_columns(line: Line) -> BoardSeen:
    """Count the columns by hand, on servers whose boards cannot be filtered."""
    names = _column_names(line.settings.board)
    by_column: dict[str, list[BoardIssue]] = {column: [] for column in COLUMNS}
    project: Json = {}
    elsewhere = 0
    for project, page in pages(line, ""):  # noqa: B007  # every page shows the same project
        for issue in page:
            status = (issue.status or "").casefold()
            column = next((column for column, name in names.items() if name and name.casefold() == status), None)
            elsewhere += column == "ready" and not issue.is_here
            if column and issue.is_here:
                by_column[column].append(issue)
    counts = {column: len(issues) for column, issues in by_column.items()}
    found = {name: tuple(issues) for name, issues in by_column.items()}
    return _board_seen(project, line.settings.board, counts, found, elsewhere=elsewhere)


def _board_seen(
    project: Json,
    names: BoardSettings,
    counts: dict[str, int],
    found: dict[str, tuple[BoardIssue, ...]],
    *,
    elsewhere: int,
) -> BoardSeen:
    wanted = {column: name for column, name in _column_names(names).items() if name}
    shown = {name.casefold(): name for name, _ in options_of(project, names.status_field)}
    return BoardSeen(
        title=str(project.get("title") or ""),
        url=str(project.get("url") or ""),
        counts=tuple((shown.get(name.casefold(), name), counts[column]) for column, name in wanted.items()),
        ready=found["ready"],
        in_progress=found.get("inProgress", ()),
        in_review=found.get("inReview", ()),
        priorities=tuple(name for name, _ in options_of(project, names.priority_field)),
        elsewhere=elsewhere,
    )


def _column_names(names: BoardSettings) -> dict[str, str]:
    return dict(zip(COLUMNS, (names.ready, names.in_progress, names.in_review, names.done), strict=True))


def _open(projects: list[Json]) -> list[Json]:
    return [project for project in projects if not project.get("closed")]


def _shape(line: Line, project: Json) -> BoardShape:
    url = str(project.get("url") or "")
    return BoardShape(
        owner=owner_in(url) or board_owner(line),
        number=int(project["number"]),
        title=str(project.get("title") or ""),
        url=url,
        fields=tuple(_field(entry) for entry in nodes_of(project.get("fields"))),
    )


def _field(entry: Json) -> BoardField:
    options = tuple(str(option["name"]) for option in entry.get("options") or ())
    return BoardField(str(entry.get("name") or ""), str(entry.get("dataType") or ""), options)
