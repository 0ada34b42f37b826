"""Decides whether a task may be claimed, and what its branch and agent are called."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime

from agent_sync.task.decision.facts import Card
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import Task

SLUG_LIMIT = 40


@dataclass(frozen=True)
class Objection:
    """Why an issue cannot be claimed, and what would help; `is_lost` means that somebody else holds it."""

    reason: str
    helps: str
    is_lost: bool = False


def objection(task: Task, *, own_ids: frozenset[str], take_over: bool) -> Objection | None:
    """Return what stands against claiming the task, if anything does."""
    number = task.number
    if not task.is_open:
        return Objection(f"Issue #{number} is closed.", f"reopen it, or see `agent-sync next` for others ({task.url})")
    if task.open_blockers:
        blockers = ", ".join(f"#{blocker}" for blocker in task.open_blockers)
        return Objection(f"Issue #{number} is blocked by {blockers}.", "agent-sync next")
    holder = holder_of(task, own_ids)
    if holder and not take_over:
        return Objection(f"Issue #{number} is held by {holder}.", "agent-sync next", is_lost=True)
    return None


def holder_of(task: Task, own_ids: frozenset[str]) -> str | None:
    """Return who else works on the task, by the board's Agent field or by its assignees."""
    agent = task.card.agent if isinstance(task.card, Card) else None
    if agent:
        return None if agent in own_ids else one_line(agent, limit=60)
    others = [login for login in task.assignees if login != task.viewer.login]
    return others[0] if others and task.viewer.login not in task.assignees else None


def warnings(task: Task, *, ready: str) -> tuple[str, ...]:
    """Return what speaks against the task without forbidding it."""
    found = []
    status = task.card.status if isinstance(task.card, Card) else None
    if isinstance(task.card, Card) and (status or "").casefold() != ready.casefold():
        found.append(f'its status is "{status or "none"}", not "{ready}"')
    if task.open_sub_issues:
        found.append("it has open sub-issues: " + ", ".join(f"#{issue}" for issue in task.open_sub_issues))
    return tuple(found)


def branch_name(title: str, number: int) -> str:
    """Return `claude/<slug>-<issue>`, made of letters and digits only, whatever the title holds."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    slug = ""
    for word in words:
        if len(slug) + len(word) > SLUG_LIMIT:
            break
        slug = f"{slug}-{word}" if slug else word
    return f"claude/{slug or 'issue'}-{number}"


def agent_name(login: str, now: datetime) -> str:
    """Return what the board's Agent field will say: who, and since when."""
    return f"{login}-{int(now.timestamp())}"
