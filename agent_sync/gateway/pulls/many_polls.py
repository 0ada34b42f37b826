"""Polls many pull requests at once: fifty to a request, for whoever looks at every claim of a repository."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_sync.gateway.pulls.conversations import with_feedback
from agent_sync.gateway.pulls.polls import PARTS, PullReads, is_kept_back, with_checks_seen
from agent_sync.gateway.reads import check_of, pull_of
from agent_sync.gateway.transport.answer import GraphQLAnswer, Json, nodes_of
from agent_sync.gateway.transport.line import Call, Line, thing_at
from agent_sync.gateway.transport.token import Area
from agent_sync.gateway.weight import send_once
from agent_sync.task.decision.facts import Pull

MOST_AT_ONCE = 50
# One that is not there, or may not be seen, does not hide the others.
UNSEEN = frozenset({"NOT_FOUND", "FORBIDDEN"})


class ManyPullReads(PullReads):
    """Many pull requests, looked at again and again."""

    def many_pulls(self, numbers: Sequence[int]) -> Mapping[int, Pull]:
        """Return these pull requests with their checks; those that this token cannot see are left out."""
        wanted = sorted(set(numbers))
        found: dict[int, Pull] = {}
        for start in range(0, len(wanted), MOST_AT_ONCE):
            asked = wanted[start : start + MOST_AT_ONCE]
            for answer in _answers(self, asked):
                found |= _pulls_in(self, answer, asked)
        return found


def poll_many_operation(numbers: Sequence[int], fragment: str = "Polled") -> str:
    """Return the operation that asks for these pull requests, each under a name of its own."""
    lines = (f"    {_alias(number)}: pullRequest(number: {number:d}) {{ ...{fragment} }}\n" for number in numbers)
    head = "query PollMany($owner: String!, $name: String!) {\n  repository(owner: $owner, name: $name) {\n"
    return head + "".join(lines) + "  }\n}\n"


def _answers(line: Line, numbers: Sequence[int]) -> list[GraphQLAnswer]:
    """Ask once; where that is too heavy for GitHub, ask for each half, and no further."""
    answer = send_once(line, _call(line, numbers))
    if answer is not None:
        return [_usable(line, answer, numbers)]
    middle = (len(numbers) + 1) // 2
    halves = (half for half in (numbers[:middle], numbers[middle:]) if half)
    return [_usable(line, line.send(_call(line, half)), half) for half in halves]


def _usable(line: Line, answer: GraphQLAnswer, numbers: Sequence[int]) -> GraphQLAnswer:
    call = _call(line, numbers)
    if answer.is_unknown_to_server:
        # An Enterprise server that does not know merge queues, rules or workflow runs of a commit.
        answer = line.send(replace(call, operation=poll_many_operation(numbers, "PolledPlainly")))
    thing_at(answer, call, "repository")
    places = [("repository", _alias(number)) for number in numbers]
    unseen = [part.path for part in answer.parts if part.kind in UNSEEN and part.path in places]
    return line.require(answer, call, *unseen, *((*place, part) for place in places for part in PARTS))


def _call(line: Line, numbers: Sequence[int]) -> Call:
    attempted = f"reading {len(numbers)} pull requests of {line.repository.full_name}"
    return Call("", line.names, attempted, Area.PULLS, operation=poll_many_operation(numbers))


def _alias(number: int) -> str:
    return f"pull{number:d}"


def _pulls_in(line: ManyPullReads, answer: GraphQLAnswer, numbers: Sequence[int]) -> dict[int, Pull]:
    places = {number: ("repository", _alias(number)) for number in numbers}
    return {
        number: pull_at(line, answer, *place) for number, place in places.items() if isinstance(answer.at(*place), dict)
    }


def pull_at(line: PullReads, answer: GraphQLAnswer, *place: str) -> Pull:
    """Return the pull request at a place of an answer, with its checks."""
    node: Json = answer.at(*place)
    contexts = (node.get("statusCheckRollup") or {}).get("contexts") or {}
    if (contexts.get("pageInfo") or {}).get("hasNextPage"):
        # More than a hundred checks: this one is read page by page.
        return line.pull(int(node["number"]), with_checks=True)
    is_unknown = is_kept_back(answer, *place)
    checks = None if is_unknown else tuple(map(check_of, nodes_of(contexts)))
    return with_checks_seen(line, with_feedback(pull_of(node), node), checks)
