"""Acts on issues and boards."""

from datetime import date

from agent_sync.emulator import scenarios
from agent_sync.emulator.acts.act import Act, ImpossibleActError
from agent_sync.emulator.operations import boards, issue_fields, issues, relations
from agent_sync.emulator.operations.changes import NewValue
from agent_sync.emulator.world.boards import Field, FieldType
from agent_sync.emulator.world.issue_fields import IssueField

Outcome = dict[str, int | str]


def add_issue(act: Act) -> Outcome:
    """Open an issue, and put it on the board if a status is given."""
    status = act.optional_text("status")
    value = None if status is None else _value(_status(act), status)
    issue = issues.create_issue(
        act.world, act.by, act.repository, title=act.text("title"), body=act.optional_text("body"),
        labels=tuple(act.texts("labels")),
    )  # fmt: skip
    if value is not None:
        item = boards.add_item(act.world, act.by, act.project, issue)
        boards.set_value(act.world, act.by, item, _status(act), value=value)
    return {"number": issue.number}


def _status(act: Act) -> Field:
    field = act.project.field_named("Status")
    if field is None:
        raise ImpossibleActError("the board has no field 'Status'")
    return field


def close_issue(act: Act) -> Outcome:
    """Close an issue."""
    issues.close_issue(act.world, act.by, act.issue, reason=act.optional_text("reason"))
    return {"number": act.issue.number}


def reopen_issue(act: Act) -> Outcome:
    """Open a closed issue again."""
    issues.reopen_issue(act.world, act.by, act.issue)
    return {"number": act.issue.number}


def block_issue(act: Act) -> Outcome:
    """Say that an issue waits for another, or for several."""
    given = act.fields.get("blocked_by")
    for number in given if isinstance(given, list) else [given]:
        blocker = act.other_issue("blocked_by", number)
        relations.add_blocked_by(act.world, act.by, act.issue, blocker)
    return {"number": act.issue.number}


def sub_issue(act: Act) -> Outcome:
    """Make an issue a part of its parent."""
    parent = act.other_issue("parent", act.fields.get("parent"))
    relations.add_sub_issue(act.world, act.by, parent, act.issue, replace_parent=True)
    return {"number": act.issue.number}


def comment(act: Act) -> Outcome:
    """Comment on an issue or pull request."""
    return {"id": issues.add_comment(act.world, act.by, act.conversation, act.text("body")).identity.number}


def set_field(act: Act) -> Outcome:
    """Set a field of a card by the names people see; null clears it."""
    item, field, value = act.item, act.field, act.fields.get("value")
    if field.issue_field is not None:
        _set_issue_field(act, field.issue_field, value)
    elif value is None:
        boards.clear_value(act.world, act.by, item, field)
    else:
        boards.set_value(act.world, act.by, item, field, value=_value(field, value))
    return {"id": item.id}


def _set_issue_field(act: Act, field: IssueField, given: object) -> None:
    option = field.option(given) if isinstance(given, str) else None
    if given is not None and option is None:
        known = ", ".join(entry.name for entry in field.options)
        raise ImpossibleActError(f"{field.name} has no option {given!r}; it has {known}")
    issue_fields.set_issue_field(act.world, act.by, act.issue, field, option)


def set_type(act: Act) -> Outcome:
    """Give an issue a type of its organisation by name; null takes it away."""
    name = act.optional_text("type")
    known = {entry.name: entry for entry in issue_fields.types_of(act.world, act.repository.owner)}
    if name is not None and name not in known:
        raise ImpossibleActError(f"there is no issue type {name!r}; known: {', '.join(known)}")
    issue_fields.set_issue_type(act.world, act.by, act.issue, known[name] if name else None)
    return {"number": act.issue.number}


def _value(field: Field, given: object) -> NewValue:
    match field.type, given:
        case FieldType.SINGLE_SELECT, str(name):
            option = field.option(name)
            if option is None:
                known = ", ".join(option.name for option in field.options)
                raise ImpossibleActError(f"{field.name} has no option {name!r}; it has {known}")
            return NewValue(option_id=option.id)
        case FieldType.ITERATION, str(title):
            return NewValue(iteration_id=next((i.id for i in field.iterations if i.title == title), ""))
        case FieldType.DATE, str(day):
            return NewValue(day=date.fromisoformat(day))
        case FieldType.NUMBER, int() | float() as number:
            return NewValue(number=float(number))
        case _, str(text):
            return NewValue(text=text)
        case _:
            raise ImpossibleActError(f"{given!r} does not fit the field {field.name}")


def rename_option(act: Act) -> Outcome:
    """Rename an option, with or without giving every option of the field a new id."""
    field, name = act.field, act.text("option")
    option = field.option(name)
    if option is None:
        raise ImpossibleActError(f"{field.name} has no option {name!r}")
    reissue = act.flag("reissue_ids", default=False)
    boards.rename_option(act.world, field, option, to=act.text("to", name), reissue_ids=reissue)
    return {"id": option.id}


def archive_item(act: Act) -> Outcome:
    """Put a card into the archive, or with `on` false take it out."""
    item = act.item
    boards.archive_item(act.world, act.by, item, archived=act.flag("on", default=True))
    return {"id": item.id}


def remove_item(act: Act) -> Outcome:
    """Take a card off the board."""
    item = act.item
    boards.remove_item(act.world, act.by, item)
    return {"id": item.id}


def add_item(act: Act) -> Outcome:
    """Put an issue or pull request on the board."""
    return {"id": boards.add_item(act.world, act.by, act.project, act.card).id}


def grow_board(act: Act) -> Outcome:
    """Add finished issues to the board."""
    scenarios.grow_board(act.world, act.repository, act.number("items"))
    return {"number": act.repository.last_number}


def automation(act: Act) -> Outcome:
    """Switch the board's built-in workflows on or off."""
    act.project.automation = act.flag("on", default=True)
    return {"id": act.project.id}
