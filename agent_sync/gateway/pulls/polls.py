"""Polls one pull request: its state, its reviews, whether it can be merged, and the checks of its head commit."""

from dataclasses import replace

from agent_sync.gateway.issue_briefs import brief_in
from agent_sync.gateway.pulls.conversations import with_feedback
from agent_sync.gateway.pulls.drift import CARD, ISSUE, issue_in, revert_head, with_drift
from agent_sync.gateway.reads import check_of, pull_of
from agent_sync.gateway.transport.answer import GraphQLAnswer, Json, nodes_of
from agent_sync.gateway.transport.line import Call, Line, thing_at
from agent_sync.gateway.transport.token import Area, advice
from agent_sync.task.decision.facts import NOTHING_WATCHED, Pull, Watched
from agent_sync.task.decision.feedback.checks import CheckRun

PULL = ("repository", "pullRequest")
ROLLUP = (*PULL, "statusCheckRollup")
# What a token may not see of these parts of a pull request does not hide the rest.
PARTS = (
    "latestOpinionatedReviews", "statusCheckRollup", "headCommit", "baseRef", "mergeQueueEntry", "reviewRequests",
)  # fmt: skip
OPTIONAL = (ISSUE, CARD, *((*PULL, part) for part in PARTS))
# More than any commit has; a head that keeps moving must not make us turn pages for ever.
MOST_PAGES = 30


class PullReads(Line):
    """One pull request, looked at again and again."""

    def pull(
        self,
        number: int,
        *,
        with_checks: bool,
        issue: int | None = None,
        with_text: bool = False,
        watched: Watched = NOTHING_WATCHED,
    ) -> Pull:
        """Return one pull request; checks that are refused to this token are None, with the reason."""
        asked = {"issue": issue, "withIssue": True, "withText": with_text} if issue is not None else {}
        first = _page(self, number, with_checks=with_checks, **asked, **self._beside(number, watched))
        found = _polled_pull(first, number)
        if with_checks:
            answer, checks = _all_checks(self, first, number)
            found = with_checks_seen(self, _polled_pull(answer, number), checks)
        seen = issue_in(first) if asked else None
        return with_drift(replace(found, issue=seen, brief=brief_in(self, first.at(*ISSUE))), first)

    def _beside(self, number: int, watched: Watched) -> dict[str, object]:
        """Return the values that ask for the card, and for a pull request that takes this one back."""
        item = watched.item if self.settings.project.number is not None else ""
        card: dict[str, object] = {"item": item, "withCard": True} if item else {}
        return card | ({"revert": revert_head(number, watched.branch), "withRevert": True} if watched.branch else {})


def with_checks_seen(line: Line, pull: Pull, checks: tuple[CheckRun, ...] | None) -> Pull:
    """Return a pull request with its checks; None are those that are refused to this token, which is said."""
    note = "" if checks is not None else advice(line.token.kind, Area.CHECKS).why
    return replace(pull, checks=checks, checks_note=note)


def _polled_pull(answer: GraphQLAnswer, number: int) -> Pull:
    node = _pull_in(answer, number)
    return with_feedback(pull_of(node), node)


_UNASKED = {"issue": 0, "withIssue": False, "withText": False, "item": "", "withCard": False}
_UNASKED |= {"after": None, "revert": "", "withRevert": False}


def _page(line: Line, number: int, *, with_checks: bool, **asked: object) -> GraphQLAnswer:
    """Ask once; `asked` are further values: which page of the checks, and what to tell of the issue and beside it."""
    rest = _UNASKED | {"statusName": line.settings.board.status_field}
    call = _call(number, line.names | {"number": number, "checks": with_checks} | rest | asked)
    answer = line.send(call)
    if answer.lacks_scope and call.variables["withCard"]:
        # A token that no longer reaches the board must not hide the pull request.
        call = replace(call, variables=call.variables | {"withCard": False})
        answer = line.send(call)
    if answer.is_unknown_to_server or answer.too_heavy:
        # An Enterprise server that does not know merge queues, rules or workflow runs of a commit; or too much to tell.
        answer = line.send(replace(call, document="poll_plain"))
    return line.require(answer, call, *OPTIONAL)


def _call(number: int, values: Json) -> Call:
    return Call("poll", values, f"reading pull request #{number}", Area.PULLS)


def _pull_in(answer: GraphQLAnswer, number: int) -> Json:
    return thing_at(answer, _call(number, {}), *PULL)


def _all_checks(line: Line, answer: GraphQLAnswer, number: int) -> tuple[GraphQLAnswer, tuple[CheckRun, ...] | None]:
    """Return the last page and the checks of all pages; None where GitHub keeps some of them back."""
    found: list[CheckRun] = []
    for _ in range(MOST_PAGES):
        if is_kept_back(answer, *PULL):
            return answer, None
        found += [check_of(node) for node in nodes_of(_contexts(answer))]
        page = _contexts(answer).get("pageInfo") or {}
        if not page.get("hasNextPage"):
            break
        head = _pull_in(answer, number)["headRefOid"]
        answer = _page(line, number, with_checks=True, after=page["endCursor"])
        if _pull_in(answer, number)["headRefOid"] != head:
            # Pushed meanwhile: what was read belongs to a commit that is no longer the head.
            found, answer = [], _page(line, number, with_checks=True)
    return answer, tuple(found)


def _contexts(answer: GraphQLAnswer) -> Json:
    return answer.at(*ROLLUP, "contexts") or {}


def is_kept_back(answer: GraphQLAnswer, *pull: str) -> bool:
    """Tell whether checks of the pull request at a place are not shown to this token.

    A refused workflow name does not matter; a refused check, or none shown because of a refusal, does.
    """
    nodes = (answer.at(*pull, "statusCheckRollup", "contexts") or {}).get("nodes") or []
    is_silent = not nodes and answer.trouble_at(*pull, "headCommit") is not None
    is_refused = answer.trouble_at(*pull, "statusCheckRollup") is not None
    return is_silent or (is_refused and (not nodes or None in nodes))


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
