"""The filter language of a board: `status:"In Progress" -assignee:octo no:agent is:open words`."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from agent_sync.emulator.graphql.comparisons import comparison
from agent_sync.emulator.world.boards import DraftIssue, Field, FieldType, Item, Project
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.pulls import PullRequest

Test = Callable[[Item], bool]

VALUE = r'(?:"[^"]*"|[^\s",])+'
TERM = re.compile(rf"(?P<minus>-)?(?:(?P<name>[A-Za-z][\w-]*):)?(?P<values>{VALUE}(?:,{VALUE})*)")
COMPARED = {FieldType.NUMBER, FieldType.DATE}


@dataclass(frozen=True)
class Term:
    """One word of a filter; several values mean any of them."""

    name: str | None
    values: tuple[str, ...]
    negated: bool


def terms(query: str) -> list[Term]:
    """Read a filter."""
    return [Term(found["name"], split_values(found["values"]), bool(found["minus"])) for found in TERM.finditer(query)]


def split_values(text: str) -> tuple[str, ...]:
    """Return the values of a comma list, without their quotes and in lower case."""
    return tuple(value.replace('"', "").lower() for value in re.findall(VALUE, text))


def board_filter(query: str, project: Project, viewer: str) -> Test:
    """Return what decides whether an item passes every term of a filter."""
    tests = [_signed(term, _test(term, project, viewer)) for term in terms(query)]
    return lambda item: all(test(item) for test in tests)


def _signed(term: Term, test: Test) -> Test:
    return (lambda item: not test(item)) if term.negated else test


def _test(term: Term, project: Project, viewer: str) -> Test:
    match term.name.lower() if term.name else None:
        case None:
            return lambda item: all(word in item.content.title.lower() for word in term.values)
        case "is" | "type" | "state":
            return lambda item: any(_is(item, value) for value in term.values)
        case "no":
            empty = [_presence(value, project) for value in term.values]
            return lambda item: not any(present(item) for present in empty)
        case "has":
            wanted = [_presence(value, project) for value in term.values]
            return lambda item: all(present(item) for present in wanted)
        case name:
            return _of_field(name, tuple(viewer if v == "@me" else v for v in term.values), project)


def _is(item: Item, word: str) -> bool:
    test = STATES.get(word)
    return bool(test and test(item.content))


def _is_open(content: Issue | PullRequest | DraftIssue) -> bool:
    return isinstance(content, DraftIssue) or content.is_open


def _is_draft(content: Issue | PullRequest | DraftIssue) -> bool:
    return isinstance(content, DraftIssue) or (isinstance(content, PullRequest) and content.draft)


STATES: dict[str, Callable[[Issue | PullRequest | DraftIssue], bool]] = {
    "issue": lambda content: isinstance(content, Issue),
    "pr": lambda content: isinstance(content, PullRequest),
    "draft": _is_draft,
    "open": _is_open,
    "closed": lambda content: not _is_open(content),
    "merged": lambda content: isinstance(content, PullRequest) and content.merged,
}


def _people(item: Item) -> list[str]:
    return [user.login.lower() for user in item.content.assignees]


def _labels(item: Item) -> list[str]:
    return [] if isinstance(item.content, DraftIssue) else [label.name.lower() for label in item.content.labels]


def _repository(item: Item) -> list[str]:
    return [] if isinstance(item.content, DraftIssue) else [item.content.repository.full_name.lower()]


def _reason(item: Item) -> list[str]:
    reason = item.content.state_reason if isinstance(item.content, Issue) else None
    return [reason.replace("_", " ")] if reason else []


def _parent(item: Item) -> list[str]:
    parent = item.content.parent if isinstance(item.content, Issue) else None
    return [f"{parent.repository.full_name}#{parent.number}".lower()] if parent else []


READERS: dict[str, Callable[[Item], list[str]]] = {
    "assignee": _people,
    "assignees": _people,
    "label": _labels,
    "labels": _labels,
    "repo": _repository,
    "repository": _repository,
    "reason": _reason,
    "parent-issue": _parent,
    "title": lambda item: [item.content.title.lower()],
}


def _presence(name: str, project: Project) -> Test:
    reader = READERS.get(name)
    if reader:
        return lambda item: bool(reader(item))
    field = _field(name, project)
    return lambda item: bool(field and _texts(field, item))


def _of_field(name: str, values: tuple[str, ...], project: Project) -> Test:
    reader = READERS.get(name)
    field = None if reader else _field(name, project)
    if field and field.type in COMPARED:
        tests = [comparison(value) for value in values]
        return lambda item: any(test(text) for text in _texts(field, item) for test in tests)
    patterns = re.compile("|".join(_pattern(value) for value in values))
    if reader:
        return lambda item: any(patterns.fullmatch(text) for text in reader(item))
    if field and field.type is FieldType.SINGLE_SELECT and field.issue_field is None:
        chosen = {option.id for option in field.options if patterns.fullmatch(option.name.lower())}
        return lambda item: (value := item.values.get(field.id)) is not None and value.option_id in chosen
    return lambda item: any(patterns.fullmatch(text) for text in (_texts(field, item) if field else ()))


def _pattern(value: str) -> str:
    # Only the star is special to GitHub; brackets and question marks mean themselves.
    return ".*".join(re.escape(part) for part in value.split("*"))


def _field(name: str, project: Project) -> Field | None:
    matching = (entry for entry in project.fields if entry.name.lower().replace(" ", "-") == name)
    return next(matching, None)


def _texts(field: Field, item: Item) -> list[str]:
    held = item.issue_value(field)
    value = item.values.get(field.id)
    if held or value is None:
        return [held.option.name.lower()] if held else []
    option, iteration = field.option_by_id(value.option_id), field.iteration_by_id(value.iteration_id)
    found = (
        value.text or None, value.number, value.day,
        option.name if option else None, iteration.title if iteration else None,
    )  # fmt: skip
    return [str(entry).lower() for entry in found if entry is not None]
