"""The page of a board: one column for each status, cards in the board's order."""

from agent_sync.emulator.exchange import Asked
from agent_sync.emulator.pages.layout import Page, board_path, conversation_link, facts, listed, people
from agent_sync.emulator.pages.markup import Html, link, tag
from agent_sync.emulator.world.boards import SETTABLE, DraftIssue, Field, Item, Project

STATUS, NO_STATUS = "Status", "No status"
MOST_CARDS = 50


def board_page(project: Project, asked: Asked) -> Page:
    """Return a board with its columns; a long column ends with a link to all of it."""
    most = None if "all" in asked.query else MOST_CARDS
    columns = [
        _column(project, f"column-{place}", name, cards[:most], len(cards))
        for place, (name, cards) in enumerate(_columns(project).items(), start=1)
    ]
    main = (
        tag("h1", project.title),
        tag("p", f"Board {project.number} of {project.owner.login}", class_="lead"),
        tag("div", *columns, class_="board"),
    )
    return Page(f"{project.title} · Board", (), main)


def card_facts(item: Item) -> list[tuple[str, str]]:
    """Return what a card says in the board's own fields."""
    pairs = ((field.name, _value(item, field)) for field in item.project.fields if field.type in SETTABLE)
    return [(name, value) for name, value in pairs if value]


def _columns(project: Project) -> dict[str, list[Item]]:
    status = project.field_named(STATUS)
    columns: dict[str, list[Item]] = {option.name: [] for option in (status.options if status else [])}
    for item in project.items.values():
        if not item.archived:
            columns.setdefault((status and _value(item, status)) or NO_STATUS, []).append(item)
    return columns


def _column(project: Project, heading: str, name: str, shown: list[Item], count: int) -> Html:
    hidden = count - len(shown)
    more = [tag("p", link(f"{board_path(project)}?all=1", f"and {hidden} more"))] if hidden else []
    counted = tag("span", str(count), class_="number")
    rows = listed((_card(item) for item in shown), nothing="No card.")
    return tag("section", tag("h2", f"{name} ", counted, id=heading), rows, *more, aria_labelledby=heading)


def _card(item: Item) -> Html:
    content = item.content
    if isinstance(content, DraftIssue):
        title, where, who = tag("bdi", content.title), "draft", people(content.assignees)
    else:
        title, where, who = conversation_link(content), content.repository.full_name, people(content.assignees)
    own = [(name, value) for name, value in card_facts(item) if name.lower() != STATUS.lower()]
    return tag("article", tag("p", title), facts([("In", where), ("Assigned to", who), *own]), class_="card")


def _value(item: Item, field: Field) -> str | None:
    value = item.values.get(field.id)
    if value is None:
        return None
    option, iteration = field.option_by_id(value.option_id), field.iteration_by_id(value.iteration_id)
    if option or iteration:
        return option.name if option else iteration.title if iteration else None
    if value.number is not None:
        return f"{value.number:g}"
    return value.day.isoformat() if value.day else value.text
