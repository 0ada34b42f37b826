"""Asks for less where GitHub finds a question too heavy, instead of asking the same again."""

from dataclasses import replace

from agent_sync.gateway.transport.answer import GraphQLAnswer
from agent_sync.gateway.transport.line import Call, Line
from agent_sync.gateway.transport.trouble import FailedRequest, TroubleKind

PAGE = 50
LIGHT_PAGE = 20


def send_by_weight(line: Line, call: Call, *, page: int = PAGE, light_page: int = LIGHT_PAGE) -> GraphQLAnswer:
    """Send a question with its page size; one that GitHub cannot answer in time is sent once more, for less."""
    answer = send_once(line, _sized(call, page)) if page > light_page else None
    return answer if answer is not None else line.send(_sized(call, light_page))


def send_once(line: Line, call: Call) -> GraphQLAnswer | None:
    """Return the answer; None where the question was too heavy, which GitHub often says by not answering at all."""
    line.asked = call
    with line.failures.as_our_errors(call):
        try:
            # Like a write it is not repeated: the same question would be as heavy again.
            answer = line.patience.persist(lambda: line.wire.send(call.text, call.variables), is_write=True)
        except FailedRequest as failed:
            if failed.trouble.kind is TroubleKind.LOST:
                return None
            raise
    return None if answer.too_heavy else answer


def _sized(call: Call, size: int) -> Call:
    return replace(call, variables=call.variables | {"size": size})
