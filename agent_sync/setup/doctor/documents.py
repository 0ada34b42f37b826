"""Checks that the server understands every document that agent-sync sends; versions of Enterprise differ."""

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, GitHubDown, RateLimited
from agent_sync.gateway.documents import PLAINER, UnknownDocument, documents
from agent_sync.setup.doctor.result import Result, fail, ok, skip, warn
from agent_sync.task.decision.outside_text import one_line

# What does not work where a document is not understood.
PURPOSES = {
    "abilities": "agent-sync doctor --live",
    "add_card": "adding an issue to the board",
    "auto_merge": "pr.auto_merge",
    "board": "the board at session start",
    "board_columns": "agent-sync board",
    "board_filtered": "the board at session start",
    "board_page": "agent-sync board -n 0, and claims by title",
    "board_page_plain": "the board, and claims by title",
    "board_urgent": "the most urgent of a long column",
    "boards": "finding the board",
    "branch_pull": "finding a branch's pull request",
    "card": "finding an issue's card",
    "card_again": "moving a card that others moved",
    "cards": "comparing cards in agent-sync reconcile --all",
    "claim_task": "agent-sync claim",
    "claims": "agent-sync status --all",
    "claims_plain": "agent-sync status --all",
    "close_task": "closing an issue",
    "closing": "closing an issue",
    "comment": "comments",
    "convoy": "convoys of work hooks",
    "escalation": "asking a human on the issue",
    "file_issue": "filing discovered work",
    "link_branch": "linking a branch to its issue",
    "linked_boards": "finding a board that was moved",
    "lookup": "finding a branch's pull request",
    "move_card": "moving cards",
    "newest_issues": "filing discovered work",
    "open_pull": "opening pull requests",
    "parent": "recognising a fork",
    "poll": "following a pull request",
    "poll_plain": "following a pull request",
    "release_task": "agent-sync release",
    "reply": "answering in review threads",
    "repository_id": "claims through GitHub's interface",
    "request_review": "asking for another review",
    "resolve_thread": "settling review threads",
    "task": "agent-sync claim",
    "task_plain": "agent-sync claim",
    "update_pull": "updating a pull request's text",
    "update_refs": "claims through GitHub's interface",
    "viewer": "signing in",
}
# Without these no task gets from claim to close.
_NEEDED = frozenset({"claim_task", "close_task", "closing", "open_pull", "poll_plain", "task_plain", "viewer"})
_NAME = "documents"
_FIX = "upgrade the server or agent-sync-github; see docs/how-to/enterprise.md"
_SHOWN = 5


def check_documents(context: Context) -> Result:
    """Ask the server for the types that the documents use, in one request, and compare every document with them."""
    try:
        unknown = context.gateway.unknown_documents()
    except (GitHubDown, RateLimited):
        raise
    except AgentSyncError as error:
        return skip(_NAME, f"this server does not tell what it understands: {one_line(error.happened, limit=300)}")
    if unknown is None:
        return skip(_NAME, "this server does not tell what it understands: it refuses introspection")
    return _result(unknown)


def _result(unknown: tuple[UnknownDocument, ...]) -> Result:
    """Say which documents are not understood; one in whose place a plainer one is sent costs nothing but comfort."""
    count, names = len(documents()), {one.name for one in unknown}
    if not unknown:
        return ok(_NAME, f"all {count} documents are understood by this server")
    broken = [one for one in unknown if not any(name not in names for name in PLAINER.get(one.name, ()))]
    if not broken:
        return ok(_NAME, f"{_listed(unknown)}; a plainer document is sent instead, so everything works")
    made = fail if names & _NEEDED else warn
    return made(_NAME, f"this server does not understand {_listed(tuple(broken))}", _FIX)


def _listed(unknown: tuple[UnknownDocument, ...]) -> str:
    shown = "; ".join(
        f"{one.name} ({PURPOSES[one.name]}): {one_line(one.reasons[0], limit=200)}" for one in unknown[:_SHOWN]
    )
    return shown + (f"; and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else "")
