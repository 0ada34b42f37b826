"""Writes what the task has come to: one request for each order; an error of the board alone never makes it fail."""

from dataclasses import replace
from typing import Any

from agent_sync.errors import GitHubDown, GitHubError, Refused
from agent_sync.gateway.cards import card_of, card_variables
from agent_sync.gateway.reads import head_name, pull_of
from agent_sync.gateway.transport.answer import AnswerError, GraphQLAnswer
from agent_sync.gateway.transport.line import Call, Line, thing_at
from agent_sync.gateway.transport.token import Area
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system.masking import masked
from agent_sync.task.decision.actions import CardChange, CloseTask, OpenPull
from agent_sync.task.decision.decide import option_id
from agent_sync.task.decision.facts import Card, Pull
from agent_sync.task.decision.pull_text import with_digests
from agent_sync.task.decision.tasks import Person, Task

CARD_PARTS = ("status", "noStatus", "agent", "noAgent")
# How GitHub says that an option's id was given to it anew since it was read.
_REISSUED = "does not belong to the field"


@dataclass(frozen=True)
class CardParts:
    """What is written on a card: None leaves a field alone, an empty text clears it."""

    card: Card | None = None
    option: str | None = None
    agent: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return self.option is None and self.agent is None

    @property
    def variables(self) -> dict[str, Any]:
        """The variables every mutation with a card takes."""
        card = self.card
        return {
            "project": card.project_id if card else "",
            "item": card.item_id if card else "",
            "statusField": (card.status_field_id or "") if card else "",
            "option": self.option or "",
            "agentField": (card.agent_field_id or "") if card else "",
            "agent": self.agent or "",
            "setStatus": bool(self.option),
            "clearStatus": self.option == "",
            "setAgent": bool(self.agent),
            "clearAgent": self.agent == "",
        }


class TaskWrites(Line):
    """The orders of a task."""

    def move_card(self, change: CardChange) -> None:
        """Write Status and Agent in one request; an option whose id was given anew is looked up again, once."""
        part = _write_card(self, parts_of(change))
        if part and is_reissued(part):
            part = _write_card(self, parts_of(reread_card(self, change)))
        if part:
            raise self.failures.of_part(part, _moving({}))

    def add_card(self, issue_id: str, project_id: str) -> Card:
        """Put an issue on a board and return its card; where it is there already, that one."""
        values = {"content": issue_id, "project": project_id} | card_variables(self)
        call = Call("add_card", values, "adding the issue to the board", Area.BOARD, is_write=True)
        answer = self.ask(call)
        item = answer.at("added", "item")
        if not isinstance(item, dict):
            raise _unconfirmed(call)
        return card_of(item, item["project"], self.settings.board)

    def comment(self, issue_id: str, body: str) -> None:
        """Comment on an issue."""
        values = {"issue": issue_id, "body": masked(body)}
        self.ask(Call("comment", values, "commenting on the issue", Area.ISSUES, is_write=True))

    def open_pull(self, order: OpenPull) -> tuple[Pull, str]:
        """Open a pull request and move its card; a refused one leaves the card where it was."""
        values = {
            "repository": order.repository_id,
            "base": order.base,
            "head": head_name(self, order.branch),
            "title": (title := masked(order.title)),
            "body": with_digests(title, masked(order.body)),
            "draft": order.draft,
        }
        call = Call("open_pull", values, f"opening a pull request for branch {order.branch}", Area.PULLS, is_write=True)
        answer, trouble = send_order(self, call, order.change, is_needed=True)
        part = answer.trouble_at("pull")
        if part:
            note = _move_back(self, order.change, answer)
            raise _with_note(self.failures.of_part(part, call), note)
        created = answer.at("pull", "pullRequest")
        if not created:
            raise _unconfirmed(call)
        return pull_of(created), trouble or board_trouble(self, answer, order.change)

    def close_task(self, order: CloseTask) -> str:
        """Comment, close, move the card and clear the Agent field; return what was wrong with the board."""
        wants = {"comment": order.comment is not None, "close": order.close}
        values = {"issue": order.issue_id, "body": masked(order.comment or "")} | wants
        call = Call("close_task", values, f"closing issue #{order.issue_number}", Area.ISSUES, is_write=True)
        answer, trouble = send_order(self, call, order.change, is_needed=any(wants.values()))
        for name in (name for name, is_wanted in wants.items() if is_wanted):
            _demand(self, answer, call, name)
        return trouble or board_trouble(self, answer, order.change)

    def claim_task(self, task: Task, change: CardChange | None, *, former: Person | None = None) -> str:
        """Assign the viewer instead of a former holder and move the card; return what was wrong."""
        is_ours = _is_assigned(task.assignees, task)
        values = {"issue": task.issue_id, "people": [task.viewer.id], "assign": not is_ours}
        values |= {"former": [former.id] if former else [], "unassign": former is not None}
        call = Call("claim_task", values, f"claiming issue #{task.number}", Area.ISSUES, is_write=True)
        answer, trouble = send_order(self, call, change, is_needed=not is_ours or former is not None)
        board = trouble or board_trouble(self, answer, change)
        return "\n".join(filter(None, ["" if is_ours else _assign_trouble(self, answer, call, task), board]))

    def release_task(self, task: Task, change: CardChange | None) -> str:
        """Take the viewer's assignment back and move the card; return what was wrong."""
        is_ours = _is_assigned(task.assignees, task)
        values = {"issue": task.issue_id, "people": [task.viewer.id], "unassign": is_ours}
        call = Call("release_task", values, f"releasing issue #{task.number}", Area.ISSUES, is_write=True)
        answer, trouble = send_order(self, call, change, is_needed=is_ours)
        part = answer.trouble_at("unassign")
        unassigned = str(self.failures.of_part(part, call)) if part else ""
        return "\n".join(filter(None, [unassigned, trouble or board_trouble(self, answer, change)]))


def send_order(line: Line, call: Call, change: CardChange | None, *, is_needed: bool) -> tuple[GraphQLAnswer, str]:
    """Send an order with its card; where the board is out of reach, the order alone, and what was wrong."""
    parts, trouble = _parts(change)
    if parts.is_empty and not is_needed:
        return GraphQLAnswer(), trouble
    answer = line.send(_with_parts(call, parts))
    if parts.is_empty or not answer.was_turned_away:
        return _answer_that_ran(line, answer, call), trouble
    # The document was turned away before any part of it ran, so it may be sent again.
    trouble = str(line.failures.of_part(answer.parts[0], call, area=Area.BOARD))
    if not is_needed:
        return GraphQLAnswer(), trouble
    return _answer_that_ran(line, line.send(_with_parts(call, NO_PARTS)), call), trouble


def _answer_that_ran(line: Line, answer: GraphQLAnswer, call: Call) -> GraphQLAnswer:
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


def _with_parts(call: Call, parts: CardParts) -> Call:
    return replace(call, variables=call.variables | parts.variables)


def _moving(values: dict[str, Any]) -> Call:
    return Call("move_card", values, "moving the card", Area.BOARD, is_write=True)


def _write_card(line: Line, parts: CardParts) -> AnswerError | None:
    if parts.is_empty:
        return None
    call = _moving(parts.variables)
    answer = line.send(call)
    part = refused_part(answer) or next(iter(answer.parts), None)
    if part is None and answer.is_empty:
        raise _unconfirmed(call)
    return part


def board_trouble(line: TaskWrites, answer: GraphQLAnswer, change: CardChange | None) -> str:
    """Return what was wrong with the card's parts, after one more try where an option's id was out of date."""
    part = refused_part(answer)
    if part is None or change is None:
        return ""
    if not is_reissued(part):
        return str(line.failures.of_part(part, _moving({})))
    try:
        line.move_card(reread_card(line, change))
    except GitHubError as error:
        return str(error)
    return ""


def _move_back(line: Line, change: CardChange | None, answer: GraphQLAnswer) -> str:
    """Put the card back where it was; return what kept us from it."""
    if change is None:
        return ""
    try:
        part = _write_card(line, parts_before(change, answer))
    except GitHubError as error:
        return str(error)
    return str(line.failures.of_part(part, _moving({}))) if part else ""


def _with_note(error: GitHubError, note: str) -> GitHubError:
    if note:
        error.happened = f"{error.happened.rstrip('.')}. The card could not be moved back: {note}"
    return error


def _demand(line: Line, answer: GraphQLAnswer, call: Call, name: str) -> None:
    part = answer.trouble_at(name)
    if part:
        raise line.failures.of_part(part, call)
    if answer.at(name) is None:
        raise _unconfirmed(call)


def _unconfirmed(call: Call) -> GitHubDown:
    message = "GitHub does not say whether it was done."
    return GitHubDown(message, maybe_applied=True, attempted=call.attempted, helps="agent-sync sync, later")


def _is_assigned(logins: tuple[str, ...], task: Task) -> bool:
    return task.viewer.login.casefold() in (login.casefold() for login in logins)


def _assign_trouble(line: Line, answer: GraphQLAnswer, call: Call, task: Task) -> str:
    part = answer.trouble_at("assign")
    if part:
        return str(line.failures.of_part(part, call))
    now = tuple(str(person["login"]) for person in answer.nodes("assign", "assignable", "assignees"))
    if _is_assigned(now, task):
        return ""
    return f"GitHub did not assign {task.viewer.login} to #{task.number}: that takes push access to the repository."


NO_PARTS = CardParts()


def parts_of(change: CardChange | None) -> CardParts:
    """Return what must be written so that the card says what the change says."""
    if change is None:
        return NO_PARTS
    return CardParts(change.card, _option(change), _agent(change))


def parts_before(change: CardChange, answer: GraphQLAnswer) -> CardParts:
    """Return what puts back the fields that an answer says were written."""
    card = change.card
    before = (option_id(card, card.status) if card.status else None) or ""
    moved = answer.at("status") is not None
    named = answer.at("agent") is not None or answer.at("noAgent") is not None
    return CardParts(card, before if moved else None, (card.agent or "") if named else None)


def refused_part(answer: GraphQLAnswer) -> AnswerError | None:
    """Return what was wrong with the card's parts of an answer."""
    return next((part for name in CARD_PARTS if (part := answer.trouble_at(name))), None)


def is_reissued(part: AnswerError) -> bool:
    """Tell whether an option's id was out of date."""
    return _REISSUED in part.message


def reread_card(line: Line, change: CardChange) -> CardChange:
    """Return the same change with the card's ids as they are now."""
    values = {"item": change.card.item_id} | card_variables(line)
    call = Call("card_again", values, "reading the card again", Area.BOARD)
    answer = line.require(line.send(call), call)
    item = thing_at(answer, call, "node")
    project = thing_at(answer, call, "node", "project")
    return replace(change, card=card_of(item, project, line.settings.board))


def _option(change: CardChange) -> str | None:
    card, status = change.card, change.status
    if not status or (card.status or "").casefold() == status.casefold():
        return None
    found = option_id(card, status)
    if found is None or card.status_field_id is None:
        known = ", ".join(name for name, _ in card.options)
        raise Refused(f'The board has no status "{status}". It has: {known}.', attempted="moving the card")
    return found


def _agent(change: CardChange) -> str | None:
    card = change.card
    if card.agent_field_id is None or (card.agent or "") == change.agent:
        return None
    return change.agent
