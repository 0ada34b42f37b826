"""Reads which boards there are and what fields they have."""

from agent_sync.gateway.cards import board_variables
from agent_sync.gateway.transport.answer import Json, nodes_of
from agent_sync.gateway.transport.asking import ask
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.tokens import Area
from agent_sync.task.decision.tasks import BoardField, BoardShape


def boards(line: Line) -> tuple[BoardShape, ...]:
    """Return the configured board; else those linked to the repository, else those of its owner."""
    is_configured = line.settings.project.number is not None
    values = line.names | board_variables(line) | {"configured": is_configured}
    call = Call("boards", values, f"looking for the boards of {values['boardOwner']}", Area.BOARD)
    answer = ask(line, call)
    if is_configured:
        found = answer.at("boardOwner", "projectV2")
        return (_shape(found),) if found else ()
    linked = answer.nodes("repository", "projectsV2")
    open_ones = _open(linked) or _open(answer.nodes("boardOwner", "projectsV2"))
    return tuple(_shape(project) for project in open_ones)


def _open(projects: list[Json]) -> list[Json]:
    return [project for project in projects if not project.get("closed")]


def _shape(project: Json) -> BoardShape:
    return BoardShape(
        owner=str((project.get("owner") or {}).get("login") or ""),
        number=int(project["number"]),
        title=str(project.get("title") or ""),
        url=str(project.get("url") or ""),
        fields=tuple(_field(entry) for entry in nodes_of(project.get("fields"))),
    )


def _field(entry: Json) -> BoardField:
    options = tuple(str(option["name"]) for option in entry.get("options") or ())
    return BoardField(str(entry.get("name") or ""), str(entry.get("dataType") or ""), options)
