"""Polls many claims at once: the issue of each and its pull request with checks and reviews, in one document."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from agent_sync.gateway.pulls.conversations import head_commit, login_of, moment_of
from agent_sync.gateway.pulls.polls import PARTS, PullReads, pull_at
from agent_sync.gateway.transport.answer import GraphQLAnswer, Json, Path, nodes_of
from agent_sync.gateway.transport.line import Call, thing_at
from agent_sync.gateway.transport.token import Area
from agent_sync.gateway.weight import send_once
from agent_sync.task.decision.claims_seen import ClaimAsked, ClaimedIssue, ClaimsSeen, PullMoments
from agent_sync.task.decision.facts import IssueSeen

AT_ONCE = 100
# One that is not there, or may not be seen, does not hide the others.
UNSEEN = frozenset({"NOT_FOUND", "FORBIDDEN"})
# A fork may have a pull request from a branch of the same name.
MOST_PULLS = 3
# How long the path of a claim's own part is: the repository, and its name there.
_ALIASED = 2
_PULLS = f"first: {MOST_PULLS}, orderBy: {{ field: CREATED_AT, direction: DESC }}"


class ClaimReads(PullReads):
    """Every claim of a repository, looked at together."""

    def claims(self, asked: Sequence[ClaimAsked]) -> ClaimsSeen:
        """Return the issues and pull requests of many claims; of an issue that is not there nothing is said."""
        parts = [asked[start : start + AT_ONCE] for start in range(0, len(asked), AT_ONCE)] or [asked]
        seen = [one for part in parts for one in _claims(self, part)]
        gone = frozenset[int]().union(*(one.gone for one in seen))
        return ClaimsSeen(seen[0].viewer, tuple(issue for one in seen for issue in one.issues), gone)


def claims_operation(asked: Sequence[ClaimAsked], fragment: str = "ClaimedPull") -> str:
    """Return the operation that asks for all these claims, each under names of its own."""
    variables = "".join(f", ${name}: {kind}!" for name, (kind, _) in _variables(asked).items())
    fields = "\n".join(_fields(place, claim, fragment) for place, claim in enumerate(asked))
    head = f"query Claims($owner: String!, $name: String!{variables}) {{\n  viewer {{ login }}\n"
    return f"{head}  repository(owner: $owner, name: $name) {{\n    id\n{fields}\n  }}\n}}\n"


def _fields(place: int, claim: ClaimAsked, fragment: str) -> str:
    issue = f"    issue{place}: issue(number: $number{place}) {{ ...ClaimedIssue }}"
    if claim.pull:
        return f"{issue}\n    pull{place}: pullRequest(number: $pull{place}) {{ ...{fragment} }}"
    if not claim.branch:
        return issue
    pulls = f"pullRequests(headRefName: $branch{place}, {_PULLS})"
    return f"{issue}\n    pulls{place}: {pulls} {{ nodes {{ ...{fragment} }} }}"


def _variables(asked: Sequence[ClaimAsked]) -> dict[str, tuple[str, Any]]:
    """Return each variable's type and value."""
    values: dict[str, tuple[str, Any]] = {}
    for place, claim in enumerate(asked):
        values[f"number{place}"] = ("Int", claim.issue)
        if claim.pull:
            values[f"pull{place}"] = ("Int", claim.pull)
        elif claim.branch:
            values[f"branch{place}"] = ("String", claim.branch)
    return values


def _claims(line: ClaimReads, asked: Sequence[ClaimAsked]) -> list[ClaimsSeen]:
    """Ask once; where that is too heavy for GitHub, ask for each half, and no further."""
    answer = send_once(line, _call(line, asked))
    if answer is not None:
        return [_seen(line, answer, asked)]
    middle = (len(asked) + 1) // 2
    return [_seen(line, line.send(_call(line, half)), half) for half in (asked[:middle], asked[middle:]) if half]


def _call(line: ClaimReads, asked: Sequence[ClaimAsked], fragment: str = "ClaimedPull") -> Call:
    values = line.names | {name: value for name, (_, value) in _variables(asked).items()}
    attempted = f"reading {len(asked)} claims of {line.repository.full_name}"
    return Call("", values, attempted, Area.PULLS, operation=claims_operation(asked, fragment))


def _seen(line: ClaimReads, answer: GraphQLAnswer, asked: Sequence[ClaimAsked]) -> ClaimsSeen:
    if answer.is_unknown_to_server or answer.too_heavy:
        answer = line.send(_call(line, asked, "ClaimedPullPlainly"))
    call = _call(line, asked)
    thing_at(line.require(answer, call, *_unseen(answer), *_parts(len(asked))), call, "repository")
    seen = (_issue(line, answer, place, claim) for place, claim in enumerate(asked))
    gone = (claim.issue for place, claim in enumerate(asked) if _is_gone(answer, place))
    return ClaimsSeen(str(answer.at("viewer", "login") or ""), tuple(filter(None, seen)), frozenset(gone))


def _unseen(answer: GraphQLAnswer) -> list[Path]:
    """Return what is not there or may not be seen: one claim of which that is so does not hide the others."""
    return [part.path for part in answer.parts if part.kind in UNSEEN and len(part.path) == _ALIASED]


def _parts(count: int) -> Iterator[Path]:
    """Return the parts of pull requests that may be kept from this token, wherever they can be in the answer."""
    for place in range(count):
        tops: list[Path] = [("repository", f"pull{place}")]
        tops += [("repository", f"pulls{place}", "nodes", str(number)) for number in range(MOST_PULLS)]
        yield from ((*top, part) for top in tops for part in PARTS)


def _is_gone(answer: GraphQLAnswer, place: int) -> bool:
    trouble = answer.trouble_at("repository", f"issue{place}")
    return trouble is not None and trouble.kind == "NOT_FOUND"


def _issue(line: ClaimReads, answer: GraphQLAnswer, place: int, claim: ClaimAsked) -> ClaimedIssue | None:
    found = answer.at("repository", f"issue{place}")
    if not isinstance(found, dict):
        return None
    is_closed = found.get("state") == "CLOSED"
    assignees = (str(one.get("login") or "ghost") for one in nodes_of(found.get("assignees")))
    seen = ClaimedIssue(claim.issue, str(found["title"]), str(found["url"]), not is_closed, tuple(assignees))
    own = _own_answer(answer, place)
    if own is None:
        return seen
    node: Json = own.data["pull"]
    pull = replace(pull_at(line, own, "pull"), issue=IssueSeen(is_open=not is_closed))
    return replace(seen, pull=pull, pull_author=login_of(node), moments=_moments(node))


def _own_answer(answer: GraphQLAnswer, place: int) -> GraphQLAnswer | None:
    """Return what the answer holds of one claim's pull request, and what is wrong with it, as an answer of its own."""
    top: tuple[str, ...] = ("repository", f"pull{place}")
    node = answer.at(*top)
    if not isinstance(node, dict):
        listed = answer.nodes("repository", f"pulls{place}")
        own = [(number, one) for number, one in enumerate(listed) if not one.get("isCrossRepository")]
        if not own:
            return None
        number, node = own[0]
        top = ("repository", f"pulls{place}", "nodes", str(number))
    parts = (replace(part, path=("pull", *part.path[len(top) :])) for part in answer.parts if part.is_within(*top))
    return GraphQLAnswer({"pull": node}, tuple(parts))


def _moments(node: Json) -> PullMoments:
    contexts = nodes_of((node.get("statusCheckRollup") or {}).get("contexts"))
    checked = [moment_of(one.get("completedAt") or one.get("startedAt") or one.get("createdAt")) for one in contexts]
    reviews = (*nodes_of(node.get("reviews")), *nodes_of(node.get("latestOpinionatedReviews")))
    return PullMoments(
        opened=moment_of(node.get("createdAt")),
        pushed=moment_of(head_commit(node).get("committedDate")),
        checked=_newest(checked),
        reviewed=_newest([moment_of(one.get("submittedAt")) for one in reviews]),
        ended=moment_of(node.get("mergedAt") or node.get("closedAt")),
    )


def _newest(moments: list[datetime | None]) -> datetime | None:
    return max((at for at in moments if at), default=None)
