"""Finds out what a board's fields and statuses are called, from the board itself."""

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.settings.tables import BoardSettings
from agent_sync.task.decision.tasks import BoardField, BoardShape

SELECT, TEXT = "SINGLE_SELECT", "TEXT"
# What the four statuses are commonly called, likeliest first.
WORDS = {
    "ready": ("todo", "to do", "ready", "ready for agent", "backlog", "open", "new"),
    "in_progress": ("in progress", "doing", "working", "started", "active"),
    "in_review": ("in review", "review", "needs review", "reviewing", "pr open"),
    "done": ("done", "closed", "complete", "completed", "finished", "merged"),
}
# Statuses without which a task still goes from claim to close.
OPTIONAL = ("in_progress", "in_review", "done")


@dataclass(frozen=True)
class Names:
    """What was found, by setting, and for what was not: what the board offers instead.

    A board may do without the `absent` ones: a card then stays where it is.
    """

    found: dict[str, str]
    missing: dict[str, tuple[str, ...]]
    absent: dict[str, tuple[str, ...]]


def names_on(board: BoardShape) -> Names:
    """Return the names to write for one board."""
    status = status_field_of(board)
    found = {"status_field": status.name} if status else {}
    missing: dict[str, tuple[str, ...]] = {} if status else {"status_field": _names(board, SELECT)}
    for key, kind in (("agent_field", TEXT), ("priority_field", SELECT)):
        field = board.field(getattr(BoardSettings(), key), kind)
        if field:
            found[key] = field.name
        else:
            missing[key] = _names(board, kind)
    absent: dict[str, tuple[str, ...]] = {}
    for key, words in WORDS.items():
        option = _option(status, (getattr(BoardSettings(), key).casefold(), *words))
        if option:
            found[key] = option
        elif status and key in OPTIONAL:
            absent[key] = status.options
        else:
            missing[key] = status.options if status else ()
    return Names(found, missing, absent)


def status_field_of(board: BoardShape) -> BoardField | None:
    """Return the field that holds the status: the one of that name, else the one whose choices sound most like it."""
    named = board.field(BoardSettings().status_field, SELECT)
    if named:
        return named
    candidates = [field for field in board.fields if field.kind == SELECT]
    best = max(candidates, key=_likeness, default=None)
    return best if best and _likeness(best) > 1 else None


def _likeness(field: BoardField) -> int:
    return sum(1 for words in WORDS.values() if _option(field, words))


def _option(field: BoardField | None, words: tuple[str, ...]) -> str | None:
    by_name = {option.casefold(): option for option in field.options} if field else {}
    return next((by_name[word] for word in words if word in by_name), None)


def _names(board: BoardShape, kind: str) -> tuple[str, ...]:
    return tuple(field.name for field in board.fields if field.kind == kind)
