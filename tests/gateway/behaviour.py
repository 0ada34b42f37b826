"""What the two runs of the behaviour suite have in common: a behaviour, and the ways to set one up."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from documented import error, pull

from agent_sync.errors import AgentSyncError
from agent_sync.gateway.port import Gateway
from agent_sync.task.decision.actions import CardChange, CloseTask, OpenPull
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.facts import Card

MARKER = "<!-- agent-sync claim=octo-1 issue=42 -->"
PLAIN_PULL = pull()
CREATED = {"data": {"pull": {"pullRequest": PLAIN_PULL}, "status": {"clientMutationId": None}}}
MOVED = {"data": {"status": {"clientMutationId": None}, "agent": {"clientMutationId": None}}}
SCOPE_WORDS = (
    "Your token has not been granted the required scopes to execute this query. The 'id' field requires one of the "
    "following scopes: ['read:project'], but your token has only been granted the: ['repo'] scopes."
)
NO_SCOPE = {"data": None, "errors": [error("INSUFFICIENT_SCOPES", SCOPE_WORDS)]}


def order(gateway: Gateway, *, branch: str = "work", base: str = "main", with_card: bool = True) -> OpenPull:
    """Return an order to open a pull request, made of what a lookup says."""
    seen = gateway.lookup(branch=branch, issue=42)
    change = card_change(seen.card, status="In Review", agent="octo-1")[0] if with_card else None
    return OpenPull(seen.repository_id, branch, base, "Fix it", f"Refs #42\n\n{MARKER}", False, "In Review", change)


def change_of(gateway: Gateway, *, status: str = "In Review", agent: str = "octo-1") -> CardChange:
    """Return a change of the card of issue 42."""
    card = gateway.card(42)
    assert isinstance(card, Card), card
    return CardChange(card, status, agent)


def closure(gateway: Gateway) -> CloseTask:
    """Return an order to close issue 42 with everything."""
    seen = gateway.closing(issue=42, pull=None, branch="work", marker=MARKER)
    change, trouble = card_change(seen.card, status="Done", agent="")
    return CloseTask(seen.issue_id, 42, f"Completed\n\n{MARKER}", True, change, trouble)


@dataclass(frozen=True)
class Behaviour:
    """What is done, what the local GitHub is made to be, what GitHub answers, and what must come of it."""

    act: Callable[[Gateway], Any]
    local: Callable[[Any], Any]
    given: dict[str, Any]
    check: Callable[[Any], bool]
    tables: dict[str, Any] | None = None
    token: str = ""


def nothing(_local: Any) -> None:
    """Leave the local GitHub as it is."""


def pushed(local: Any) -> None:
    """Push the branch."""
    local.push()


def opened(local: Any, **more: Any) -> int:
    """Push the branch and open its pull request."""
    local.push()
    gateway = local.gateway()
    number = gateway.open_pull(order(gateway, with_card=False))[0].number
    if more:
        local.act("add_check", pull=number, **more)
    return number


def taken(local: Any) -> None:
    """Let the card carry an agent's name."""
    local.act("set_field", issue=42, field="Agent", value="octo-1")


def failed(kind: type[AgentSyncError], *words: str) -> Callable[[Any], bool]:
    """Return a check for an error of a kind whose text has all the words."""
    return lambda came: type(came) is kind and all(word in str(came) for word in words)


def contexts(*nodes: Any, **more: Any) -> dict[str, Any]:
    """Return a rollup with these checks."""
    page = {"hasNextPage": False, "endCursor": None}
    return {"statusCheckRollup": {"contexts": {"pageInfo": page, "nodes": list(nodes)} | more}}


def run(name: str, status: str = "COMPLETED", conclusion: str | None = "SUCCESS") -> dict[str, Any]:
    """Return one check run."""
    return {"name": name, "status": status, "conclusion": conclusion, "startedAt": "2026-01-01T00:00:00Z"} | {
        "checkSuite": {"workflowRun": {"workflow": {"name": "CI"}}}
    }


def astray(made: CloseTask) -> CloseTask:
    """Return an order whose card has left the board meanwhile."""
    assert made.change is not None
    return replace(made, change=replace(made.change, card=replace(made.change.card, item_id="PVTI_gone")))
