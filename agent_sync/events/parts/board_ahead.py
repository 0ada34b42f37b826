"""Asks for the board while the pull request is looked at: a session's start waits for the slower one alone."""

import threading
from collections.abc import Callable
from dataclasses import replace

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.hook_event import IDLE, EventPart, HookEvent
from agent_sync.task.decision.tasks import BoardSeen


def part(context: Context, _event: HookEvent, _gate: object) -> EventPart:
    """Begin to ask for the board where something else will be asked too."""
    if context.settings.project.number is not None and context.store.file.exists():
        # For a claim file that is refused nothing at all is asked.
        issue = _issue(context)
        context.board_ahead = ask_board(context, issue) if issue else None
    return IDLE


def _issue(context: Context) -> int | None:
    """Return the claimed issue, which is asked about with the board; what is wrong with the claim is said elsewhere."""
    try:
        claim = context.store.read()
    except AgentSyncError:
        return None
    return claim.issue_number if claim else None


def ask_board(context: Context, issue: int | None = None) -> Callable[[], BoardSeen | None]:
    """Ask for the board in a thread with a connection of its own; return what waits for the answer."""
    found: list[BoardSeen | None] = []
    trouble: list[Exception] = []

    def ask() -> None:
        try:
            found.append(replace(context).gateway.board(issue))
        except Exception as error:  # noqa: BLE001  # told by the part that waits for the answer
            trouble.append(error)

    # Nobody waits for it when this process ends.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()

    def answer() -> BoardSeen | None:
        thread.join()
        if trouble:
            raise trouble[0]
        return found[0]

    return answer
