"""Decides whether a task may be claimed, and what its branch and agent are called."""

import re
import unicodedata
from datetime import datetime

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.settings.tables import USUAL_BRANCH
from agent_sync.task.decision.facts import Card
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import Task

SLUG_LIMIT = 40
# How many seconds lie between two names for agents on one issue, and how long a second may be.
NAME_STEP, LONGEST_SECOND = 1000, 12


@dataclass(frozen=True)
class ClaimObjection:
    """Why an issue cannot be claimed, and what would help; `is_lost` means that somebody else holds it."""

    reason: str
    helps: str
    is_lost: bool = False


def objection(task: Task, *, own_ids: frozenset[str], take_over: bool) -> ClaimObjection | None:
    """Return what stands against claiming the task, if anything does."""
    number = task.number
    if not task.is_open:
        return ClaimObjection(
            f"Issue #{number} is closed.", f"reopen it, or see `agent-sync next` for others ({task.url})"
        )
    if task.is_blocked:
        return ClaimObjection(f"Issue #{number} is blocked by {blocker_names(task)}.", "agent-sync next")
    holder = holder_of(task, own_ids)
    if holder and not take_over:
        return ClaimObjection(f"Issue #{number} is held by {holder}.", "agent-sync next", is_lost=True)
    return None


def blocker_names(task: Task) -> str:
    """Return what is in a task's way, those of other repositories by their full names, hidden ones by their number."""
    names = [*(f"#{number}" for number in task.open_blockers), *task.foreign_blockers]
    hidden = task.hidden_blockers
    what = "1 issue" if hidden == 1 else f"{hidden} issues"
    return ", ".join([*names, f"{what} that this token may not see"] if hidden else names)


def sub_issue_names(task: Task) -> tuple[str, ...]:
    """Return the open sub-issues of a task, those of other repositories by their full names."""
    return (*(f"#{number}" for number in task.open_sub_issues), *task.foreign_sub_issues)


def holder_of(task: Task, own_ids: frozenset[str]) -> str | None:
    """Return who else works on the task: by the Agent field, the assignees, or a pull request that will close it."""
    agent = task.card.agent if isinstance(task.card, Card) else None
    if agent:
        return None if agent in own_ids else one_line(agent, limit=60)
    me = task.viewer.login.casefold()
    others = [login for login in task.assignees if login.casefold() != me]
    bots = [login for login in task.bots if login.casefold() != me]
    # Whoever assigns a program to an issue is often assigned with it, and leaves the work to the program.
    holders = bots or ([] if len(others) < len(task.assignees) else others)
    pulls = [f"{pull.author}, whose PR {pull.name} is open" for pull in task.rival_pulls]
    return one_line(next(iter((*holders, *pulls)), ""), limit=100) or None


def warnings(task: Task, *, ready: str) -> tuple[str, ...]:
    """Return what speaks against the task without forbidding it."""
    found = []
    status = task.card.status if isinstance(task.card, Card) else None
    if isinstance(task.card, Card) and (status or "").casefold() != ready.casefold():
        found.append(f'its status is "{status or "none"}", not "{ready}"')
    parts = sub_issue_names(task)
    if parts:
        found.append("it has open sub-issues: " + ", ".join(parts))
    return tuple(found)


def branch_name(title: str, number: int, pattern: str = USUAL_BRANCH) -> str:
    """Return the branch of an issue by a pattern; the slug has letters and digits only, whatever the title holds."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    slug = ""
    for word in words:
        if len(slug) + len(word) > SLUG_LIMIT:
            break
        slug = f"{slug}-{word}" if slug else word
    return pattern.replace("{slug}", slug or "issue").replace("{issue}", str(number))


def agent_name(login: str, issue: int, now: datetime) -> str:
    """Return what the board's Agent field will say: a login and the last second that belongs to the issue.

    Every issue has its own seconds of a thousand, so that agents who claim at the same moment differ in their names.
    """
    at = int(now.timestamp())
    return f"{login}-{at - (at - issue) % NAME_STEP}"


def name_after(name: str, before: str) -> str:
    """Return an agent's name, or the next one that is free where the issue's last holder had it or a later one."""
    login, mine, last = login_of(name), _second(name), _second(before)
    # A second far ahead is no word of ours, and does not carry the name along.
    is_taken = login == login_of(before) and mine <= last < mine + 1000 * NAME_STEP
    return f"{login}-{last + NAME_STEP}" if login and is_taken else name


def login_of(name: str) -> str:
    """Return whose agent a name of the Agent field stands for; empty for a worker's, or one that is not ours."""
    login, _, at = name.rpartition("-")
    return login if at.isascii() and at.isdecimal() and len(at) <= LONGEST_SECOND else ""


def _second(name: str) -> int:
    return int(name.rpartition("-")[2]) if login_of(name) else 0
