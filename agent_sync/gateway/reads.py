"""The questions of the lifecycle: one request each."""

from agent_sync.gateway.cards import BOARD_PLACES, ISSUE, NO_PROJECT, board_variables, find_card, item_on, values_of
from agent_sync.gateway.pulls import own_pulls, pull_of
from agent_sync.gateway.transport.answer import Answer, Json
from agent_sync.gateway.transport.asking import ask, ask_with_card, demanded, thing_at
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.tokens import Area
from agent_sync.task.decision.facts import Card, Closing, Lookup, NoCard, Pull
from agent_sync.task.decision.tasks import Person, Task

REPOSITORY = ("repository",)
FEEDBACK = ("repository", "pullRequest", "latestOpinionatedReviews")


def lookup(line: Line, *, branch: str, issue: int) -> Lookup:
    """Return everything that opening a pull request depends on."""
    base = line.settings.pr.base
    values = line.names | {
        "branch": branch,
        "ref": f"refs/heads/{branch}",
        "base": f"refs/heads/{base}" if base else "",
        "ownBase": bool(base),
        "issue": issue,
    }
    call = Call("lookup", values, f"looking for pull requests of branch {branch} in {line.repository.full_name}")
    # A comparison with a branch that is not there, or an issue that is not, must not hide the rest.
    optional = ((*REPOSITORY, "default"), (*REPOSITORY, "base"), ISSUE)
    answer, card = ask_with_card(line, call, *optional)
    found = thing_at(answer, call, *REPOSITORY)
    return Lookup(
        repository_id=str(found["id"]),
        default_branch=str((found.get("defaultBranchRef") or {}).get("name") or ""),
        remote_sha=_text_at(answer, *REPOSITORY, "head", "target", "oid"),
        commits_ahead=_ahead(answer, "base" if base else "default"),
        pulls=own_pulls(found.get("pullRequests")),
        card=card,
    )


def card(line: Line, issue: int) -> Card | NoCard:
    """Return the issue's card."""
    if line.settings.project.number is None:
        return NoCard(NO_PROJECT)
    values = line.names | {"issue": issue} | board_variables(line)
    call = Call("card", values, f"looking for the card of issue #{issue}", Area.BOARD)
    answer = line.send(call)
    if answer.lacks_scope:
        return NoCard(str(line.failures.of_part(answer.parts[0], call)))
    return find_card(line, demanded(line, answer, call, *BOARD_PLACES, ISSUE), call)


def branch_pull(line: Line, branch: str) -> Pull | None:
    """Return the newest pull request of a branch of this repository."""
    attempted = f"looking for pull requests of branch {branch} in {line.repository.full_name}"
    call = Call("branch_pull", line.names | {"branch": branch}, attempted, Area.PULLS)
    answer = ask(line, call)
    return next(iter(own_pulls(thing_at(answer, call, *REPOSITORY).get("pullRequests"))), None)


def closing(line: Line, *, issue: int, pull: int | None, branch: str, marker: str) -> Closing:
    """Return everything that closing the task depends on."""
    values = line.names | {
        "issue": issue,
        "pull": pull or 0,
        "byNumber": pull is not None,
        "branch": branch,
        "byBranch": bool(branch),
    }
    call = Call("closing", values, f"reading issue #{issue} and its pull request", Area.ISSUES)
    answer, card = ask_with_card(line, call, (*REPOSITORY, "pullRequest"))
    found = thing_at(answer, call, *ISSUE)
    return Closing(
        issue_id=str(found["id"]),
        is_open=found["state"] == "OPEN",
        title=str(found["title"]),
        has_comment=any(marker in str(comment.get("body")) for comment in answer.nodes(*ISSUE, "comments")),
        pull=_closing_pull(answer),
        card=card,
    )


def task(line: Line, issue: int) -> Task:
    """Return everything that claiming or releasing an issue depends on."""
    call = Call("task", line.names | {"issue": issue}, f"reading issue #{issue}", Area.ISSUES)
    answer, card = ask_with_card(line, call, fallback="task_plain")
    found, viewer = thing_at(answer, call, *ISSUE), thing_at(answer, call, "viewer")
    return Task(
        viewer=Person(str(viewer["login"]), str(viewer["id"])),
        issue_id=str(found["id"]),
        number=int(found["number"]),
        title=str(found["title"]),
        url=str(found["url"]),
        is_open=found["state"] == "OPEN",
        assignees=tuple(str(person["login"]) for person in answer.nodes(*ISSUE, "assignees")),
        open_blockers=_open_numbers(answer, "blockedBy"),
        open_sub_issues=_open_numbers(answer, "subIssues"),
        card=card,
        priority=_priority(line, answer),
        default_branch=_text_at(answer, *REPOSITORY, "defaultBranchRef", "name") or "",
        parent=_parent(answer),
    )


def _closing_pull(answer: Answer) -> Pull | None:
    numbered = answer.at(*REPOSITORY, "pullRequest")
    if isinstance(numbered, dict):
        return pull_of(numbered)
    return next(iter(own_pulls(answer.at(*REPOSITORY, "pullRequests"))), None)


def _open_numbers(answer: Answer, connection: str) -> tuple[int, ...]:
    found: list[Json] = answer.nodes(*ISSUE, connection)
    return tuple(int(node["number"]) for node in found if node.get("state") == "OPEN")


def _parent(answer: Answer) -> int | None:
    number = answer.at(*ISSUE, "parent", "number")
    return number if isinstance(number, int) else None


def _priority(line: Line, answer: Answer) -> str | None:
    board = answer.at("boardOwner", "projectV2")
    item = item_on(answer, board) if board else None
    return values_of(item).of(line.settings.board.priority_field) if item else None


def _ahead(answer: Answer, base: str) -> int | None:
    ahead = answer.at(*REPOSITORY, base, "compare", "aheadBy")
    return ahead if isinstance(ahead, int) else None


def _text_at(answer: Answer, *place: str) -> str | None:
    found = answer.at(*place)
    return found if isinstance(found, str) else None
