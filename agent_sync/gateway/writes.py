"""The orders of the lifecycle: one request each; trouble with the board alone never makes them fail."""

from dataclasses import replace
from typing import Any

from agent_sync.errors import GitHubDown, GitHubError, Refused
from agent_sync.gateway.changes import NO_PARTS, CardParts, is_reissued, parts_of, refused_part, reread, undone
from agent_sync.gateway.pulls import pull_of
from agent_sync.gateway.transport.answer import Answer, Part
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.tokens import Area
from agent_sync.system.masking import masked
from agent_sync.task.decision.actions import CardChange, CloseTask, OpenPull
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.tasks import Task


def move_card(line: Line, change: CardChange) -> None:
    """Write Status and Agent in one request; an option whose id was given anew is looked up again, once."""
    part = _wrote_card(line, parts_of(change))
    if part and is_reissued(part):
        part = _wrote_card(line, parts_of(reread(line, change)))
    if part:
        raise line.failures.of_part(part, _moving({}))


def open_pull(line: Line, order: OpenPull) -> tuple[Pull, str]:
    """Open a pull request and move its card; a refused one leaves the card where it was."""
    values = {
        "repository": order.repository_id,
        "base": order.base,
        "head": order.branch,
        "title": masked(order.title),
        "body": masked(order.body),
        "draft": order.draft,
    }
    call = Call("open_pull", values, f"opening a pull request for branch {order.branch}", Area.PULLS, is_write=True)
    answer, trouble = _order(line, call, order.change, is_needed=True)
    part = answer.trouble_at("pull")
    if part:
        note = _moved_back(line, order.change, answer)
        raise _with_note(line.failures.of_part(part, call), note)
    created = answer.at("pull", "pullRequest")
    if not created:
        raise _unsaid(call)
    return pull_of(created), trouble or _board_trouble(line, answer, order.change)


def close_task(line: Line, order: CloseTask) -> str:
    """Comment, close, move the card and clear the Agent field; return what was wrong with the board."""
    wants = {"comment": order.comment is not None, "close": order.close}
    values = {"issue": order.issue_id, "body": masked(order.comment or "")} | wants
    call = Call("close_task", values, f"closing issue #{order.issue_number}", Area.ISSUES, is_write=True)
    answer, trouble = _order(line, call, order.change, is_needed=any(wants.values()))
    for name in (name for name, is_wanted in wants.items() if is_wanted):
        _demand(line, answer, call, name)
    return trouble or _board_trouble(line, answer, order.change)


def claim_task(line: Line, task: Task, change: CardChange | None) -> str:
    """Assign the viewer and move the card; return what was wrong."""
    is_ours = _is_assigned(task.assignees, task)
    values = {"issue": task.issue_id, "people": [task.viewer.id], "assign": not is_ours}
    call = Call("claim_task", values, f"claiming issue #{task.number}", Area.ISSUES, is_write=True)
    answer, trouble = _order(line, call, change, is_needed=not is_ours)
    board = trouble or _board_trouble(line, answer, change)
    return " ".join(filter(None, ["" if is_ours else _assign_trouble(line, answer, call, task), board]))


def release_task(line: Line, task: Task, change: CardChange | None) -> str:
    """Take the viewer's assignment back and move the card; return what was wrong."""
    is_ours = _is_assigned(task.assignees, task)
    values = {"issue": task.issue_id, "people": [task.viewer.id], "unassign": is_ours}
    call = Call("release_task", values, f"releasing issue #{task.number}", Area.ISSUES, is_write=True)
    answer, trouble = _order(line, call, change, is_needed=is_ours)
    part = answer.trouble_at("unassign")
    unassigned = str(line.failures.of_part(part, call)) if part else ""
    return " ".join(filter(None, [unassigned, trouble or _board_trouble(line, answer, change)]))


def _order(line: Line, call: Call, change: CardChange | None, *, is_needed: bool) -> tuple[Answer, str]:
    """Send an order with its card; where the board is out of reach, the order alone, and what was wrong."""
    parts, trouble = _parts(change)
    if parts.is_empty and not is_needed:
        return Answer(), trouble
    answer = line.send(_carrying(call, parts))
    if parts.is_empty or not answer.was_turned_away:
        return _ran(line, answer, call), trouble
    # The document was turned away before any part of it ran, so it may be sent again.
    trouble = str(line.failures.of_part(answer.parts[0], call, area=Area.BOARD))
    if not is_needed:
        return Answer(), trouble
    return _ran(line, line.send(_carrying(call, NO_PARTS)), call), trouble


def _ran(line: Line, answer: Answer, call: Call) -> Answer:
    """Return the answer of a document that ran at all."""
    whole = next((part for part in answer.parts if not part.path or part.path[0] not in answer.data), None)
    if whole and answer.is_empty:
        raise line.failures.of_part(whole, call)
    return answer


def _parts(change: CardChange | None) -> tuple[CardParts, str]:
    try:
        return parts_of(change), ""
    except Refused as refusal:
        return NO_PARTS, str(refusal)


def _carrying(call: Call, parts: CardParts) -> Call:
    return replace(call, variables=call.variables | parts.variables)


def _moving(values: dict[str, Any]) -> Call:
    return Call("move_card", values, "moving the card", Area.BOARD, is_write=True)


def _wrote_card(line: Line, parts: CardParts) -> Part | None:
    if parts.is_empty:
        return None
    call = _moving(parts.variables)
    answer = line.send(call)
    part = refused_part(answer) or next(iter(answer.parts), None)
    if part is None and answer.is_empty:
        raise _unsaid(call)
    return part


def _board_trouble(line: Line, answer: Answer, change: CardChange | None) -> str:
    """Return what was wrong with the card's parts, after one more try where an option's id was out of date."""
    part = refused_part(answer)
    if part is None or change is None:
        return ""
    if not is_reissued(part):
        return str(line.failures.of_part(part, _moving({})))
    try:
        move_card(line, reread(line, change))
    except GitHubError as error:
        return str(error)
    return ""


def _moved_back(line: Line, change: CardChange | None, answer: Answer) -> str:
    """Put the card back where it was; return what kept us from it."""
    if change is None:
        return ""
    try:
        part = _wrote_card(line, undone(change, answer))
    except GitHubError as error:
        return str(error)
    return str(line.failures.of_part(part, _moving({}))) if part else ""


def _with_note(error: GitHubError, note: str) -> GitHubError:
    if note:
        error.happened = f"{error.happened.rstrip('.')}. The card could not be moved back: {note}"
    return error


def _demand(line: Line, answer: Answer, call: Call, name: str) -> None:
    part = answer.trouble_at(name)
    if part:
        raise line.failures.of_part(part, call)
    if answer.at(name) is None:
        raise _unsaid(call)


def _unsaid(call: Call) -> GitHubDown:
    message = "GitHub does not say whether it was done."
    return GitHubDown(message, maybe_applied=True, attempted=call.attempted, helps="agent-sync sync, a little later")


def _is_assigned(logins: tuple[str, ...], task: Task) -> bool:
    return task.viewer.login.casefold() in (login.casefold() for login in logins)


def _assign_trouble(line: Line, answer: Answer, call: Call, task: Task) -> str:
    part = answer.trouble_at("assign")
    if part:
        return str(line.failures.of_part(part, call))
    now = tuple(str(person["login"]) for person in answer.nodes("assign", "assignable", "assignees"))
    if _is_assigned(now, task):
        return ""
    return f"GitHub did not assign {task.viewer.login} to #{task.number}: that takes push access to the repository."
