"""Polls one pull request: its state, its reviews, whether it can be merged, and the checks of its head commit."""

from agent_sync.gateway.pulls import check_of, pull_of
from agent_sync.gateway.transport.answer import Answer, Json, nodes_of
from agent_sync.gateway.transport.asking import ask, thing_at
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.tokens import Area, advice
from agent_sync.task.decision.checks import Check
from agent_sync.task.decision.facts import Pull

PULL = ("repository", "pullRequest")
REVIEWS = (*PULL, "latestOpinionatedReviews")
ROLLUP = (*PULL, "statusCheckRollup")
# More than any commit has; a head that keeps moving must not make us turn pages for ever.
MOST_PAGES = 30


def poll(line: Line, number: int, *, with_checks: bool) -> Pull:
    """Return one pull request; checks that are refused to this token are None, with the reason."""
    answer = _page(line, number, with_checks=with_checks)
    if not with_checks:
        return pull_of(_pull_in(answer, number))
    answer, checks = _all_checks(line, answer, number)
    note = "" if checks is not None else advice(line.token.kind, Area.CHECKS).why
    return pull_of(_pull_in(answer, number), checks=checks, checks_note=note)


def _page(line: Line, number: int, *, with_checks: bool, after: str | None = None) -> Answer:
    call = _call(number, line.names | {"number": number, "checks": with_checks, "after": after})
    return ask(line, call, REVIEWS, ROLLUP)


def _call(number: int, values: Json) -> Call:
    return Call("poll", values, f"reading pull request #{number}", Area.PULLS)


def _pull_in(answer: Answer, number: int) -> Json:
    return thing_at(answer, _call(number, {}), *PULL)


def _all_checks(line: Line, answer: Answer, number: int) -> tuple[Answer, tuple[Check, ...] | None]:
    """Return the last page and the checks of all pages; None where GitHub keeps some of them back."""
    found: list[Check] = []
    for _ in range(MOST_PAGES):
        nodes = _contexts(answer).get("nodes") or []
        if _is_kept_back(answer, nodes):
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


def _contexts(answer: Answer) -> Json:
    return answer.at(*ROLLUP, "contexts") or {}


def _is_kept_back(answer: Answer, nodes: list[Json | None]) -> bool:
    """A refused workflow name does not matter; a refused check, or none shown because of a refusal, does."""
    return answer.trouble_at(*ROLLUP) is not None and (not nodes or None in nodes)
