"""Checks that the board has the fields and statuses the settings name; pure."""

from collections.abc import Iterable, Iterator

from agent_sync.settings.tables import BoardSettings
from agent_sync.setup.doctor.result import Result, fail, ok, warn
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import BoardField, BoardShape

SELECT, TEXT = "SINGLE_SELECT", "TEXT"
STATUSES = ("ready", "in_progress", "in_review", "done")


def check_names(board: BoardShape, names: BoardSettings) -> Iterator[Result]:
    """Check every name, and list the board's own where one is wrong."""
    status = board.field(names.status_field, SELECT)
    if status is None:
        says = f"no single-select field {names.status_field!r}; the board has: {_fields(board, SELECT)}"
        yield fail("status field", says, "set board.status_field in .agent-sync.toml")
    else:
        yield _statuses(status, names)
    yield _agent(board, names)
    yield _priority(board, names)


def _statuses(status: BoardField, names: BoardSettings) -> Result:
    there = {option.casefold() for option in status.options}
    # A status without a name is one that the board is known not to have.
    named = {key: getattr(names, key) for key in STATUSES if getattr(names, key)}
    missing = {key: name for key, name in named.items() if name.casefold() not in there}
    if not missing:
        return ok("statuses", ", ".join(one_line(option) for option in status.options))
    says = f"not on the board: {', '.join(missing.values())}; it has: {_comma_list(status.options)}"
    if "ready" in missing:
        return fail("statuses", says, "set board.ready in .agent-sync.toml, or add the option on the board")
    first = next(iter(missing))
    if like := _renamed(missing[first], status.options, named.values()):
        fix = f'agent-sync config set board.{first} "{like}", if that column was renamed'
        return warn("statuses", f"{says}; the card stays where it is", fix)
    fix = f'set board.{first} = "" in .agent-sync.toml to leave the card where it is, or add the option on the board'
    return warn("statuses", f"{says}; the card stays where it is", fix)


def _renamed(name: str, options: tuple[str, ...], named: Iterable[str]) -> str:
    """Return the column that looks like one that is missing, and that the settings do not name."""
    from difflib import get_close_matches

    known = {one.casefold() for one in named}
    free = {one_line(option).casefold(): one_line(option) for option in options if option.casefold() not in known}
    close = get_close_matches(name.casefold(), free, n=1, cutoff=0.5)
    return free[close[0]] if close else ""


def _agent(board: BoardShape, names: BoardSettings) -> Result:
    if board.field(names.agent_field, TEXT):
        return ok("agent field", names.agent_field)
    says = f"no text field {names.agent_field!r}, so the board does not show who works; it has: {_fields(board, TEXT)}"
    return warn("agent field", says, f"add a text field {names.agent_field} to the board, or set board.agent_field")


def _priority(board: BoardShape, names: BoardSettings) -> Result:
    if board.field(names.priority_field, SELECT):
        return ok("priority field", names.priority_field)
    says = f"no single-select field {names.priority_field!r}, so tasks come by age; it has: {_fields(board, SELECT)}"
    return warn("priority field", says, "set board.priority_field in .agent-sync.toml")


def _fields(board: BoardShape, kind: str) -> str:
    return _comma_list(tuple(field.name for field in board.fields if field.kind == kind))


def _comma_list(names: tuple[str, ...]) -> str:
    return ", ".join(one_line(name) for name in names) or "none"
