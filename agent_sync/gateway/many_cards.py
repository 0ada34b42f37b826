"""Reads the cards of many issues at once, a hundred in each request."""

from collections.abc import Mapping, Sequence

from agent_sync.gateway.cards import ISSUE, OWNER, board_variables, card_of, card_variables, item_on
from agent_sync.gateway.transport.answer import GraphQLAnswer
from agent_sync.gateway.transport.line import Call, Line
from agent_sync.gateway.transport.token import Area
from agent_sync.task.decision.facts import Card

AT_ONCE = 100


class ManyCardReads(Line):
    """The cards of many issues on the configured board."""

    def cards(self, issues: Sequence[int]) -> Mapping[int, Card]:
        """Return the cards of these issues; one that has none, or none that can be seen, is left out."""
        if self.settings.project.number is None:
            return {}
        parts = [issues[start : start + AT_ONCE] for start in range(0, len(issues), AT_ONCE)]
        return {number: card for part in parts for number, card in _cards(self, part).items()}


def cards_operation(issues: Sequence[int]) -> str:
    """Return the operation that asks for the cards of all these issues, each under a name of its own."""
    fields = "\n".join(f"    issue{number:d}: issue(number: {number:d}) {{ ...Items }}" for number in issues)
    named = "$boardOwner: String!, $boardNumber: Int!, $statusName: String!, $agentName: String!"
    board = "... on ProjectV2Owner { projectV2(number: $boardNumber) { ...Fields } }"
    return (
        f"query Cards($owner: String!, $name: String!, {named}) {{\n"
        f"  repository(owner: $owner, name: $name) {{\n    id\n{fields}\n  }}\n"
        f"  boardOwner: repositoryOwner(login: $boardOwner) {{ {board} }}\n}}\n"
    )


def _cards(line: Line, issues: Sequence[int]) -> dict[int, Card]:
    values = line.names | board_variables(line) | card_variables(line)
    attempted = f"reading the cards of {len(issues)} issues of {line.repository.full_name}"
    call = Call("", values, attempted, Area.BOARD, operation=cards_operation(issues))
    # An issue that is gone does not hide the others.
    optional = tuple(("repository", f"issue{number:d}") for number in issues)
    answer = line.ask(call, OWNER, *optional)
    board = answer.at(*OWNER, "projectV2")
    if not isinstance(board, dict):
        return {}
    found = {}
    for number in issues:
        own = GraphQLAnswer({ISSUE[0]: {ISSUE[1]: answer.at("repository", f"issue{number:d}")}})
        item = item_on(own, board)
        if item:
            found[number] = card_of(item, board, line.settings.board)
    return found
