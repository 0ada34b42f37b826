"""Reads what the task depends on: one request for each question."""

from dataclasses import replace
from typing import Any

from agent_sync.errors import GitHubError, NotFound
from agent_sync.gateway.cards import (
    BOARD_PLACES,
    ISSUE,
    NO_PROJECT,
    ask_with_card,
    board_variables,
    card_variables,
    find_card,
    follow_rename,
    is_same_name,
    item_on,
    values_of,
)
from agent_sync.gateway.issue_briefs import brief_in
from agent_sync.gateway.pulls.conversations import with_feedback
from agent_sync.gateway.pulls.drift import issue_in
from agent_sync.gateway.relatives import RELATIVES, holders_of, open_blockers_of, parent_in, relatives_in
from agent_sync.gateway.transport.answer import GraphQLAnswer, Json, nodes_of
from agent_sync.gateway.transport.line import Call, Line, thing_at
from agent_sync.gateway.transport.token import Area
from agent_sync.task.decision.facts import Card, ClosingFacts, Lookup, NoCard, Pull, PullState
from agent_sync.task.decision.feedback.checks import CheckRun
from agent_sync.task.decision.tasks import Person, Task

REPOSITORY = ("repository",)
FEEDBACK = ("repository", "pullRequest", "latestOpinionatedReviews")
STATES = {"OPEN": PullState.OPEN, "CLOSED": PullState.CLOSED, "MERGED": PullState.MERGED}


class TaskReads(Line):
    """What opening, watching, closing and claiming depend on."""

    def lookup(self, *, branch: str, issue: int) -> Lookup:
        """Return everything that opening a pull request depends on."""
        base = self.settings.pr.base
        values = self.names | {
            "branch": branch,
            "ref": f"refs/heads/{branch}",
            "base": f"refs/heads/{base}" if base else "",
            "ownBase": bool(base),
            "issue": issue,
            **fork_variables(self),
        }
        call = Call("lookup", values, f"looking for pull requests of branch {branch} in {self.repository.full_name}")
        # A comparison with a branch that is not there, or an issue that is not, must not hide the rest.
        optional = ((*REPOSITORY, "default"), (*REPOSITORY, "base"), ISSUE)
        answer, card = ask_with_card(self, call, *optional)
        found = thing_at(answer, call, *REPOSITORY)
        return Lookup(
            repository_id=str(found["id"]),
            default_branch=str((found.get("defaultBranchRef") or {}).get("name") or ""),
            remote_sha=_text_at(answer, *(("fork",) if self.fork else REPOSITORY), "head", "target", "oid"),
            commits_ahead=_ahead(answer, "base" if base else "default"),
            pulls=own_pulls(self, found.get("pullRequests")),
            card=card,
            issue=issue_in(answer) if "state" in (answer.at(*ISSUE) or {}) else None,
        )

    def card(self, issue: int) -> Card | NoCard:
        """Return the issue's card."""
        if self.settings.project.number is None:
            return NoCard(NO_PROJECT)
        values = self.names | {"issue": issue} | board_variables(self) | card_variables(self)
        call = Call("card", values, f"looking for the card of issue #{issue}", Area.BOARD)
        answer = self.send(call)
        if follow_rename(self, answer) and self.board_owner:
            call = replace(call, variables=values | self.names | board_variables(self))
            answer = self.send(call)
        if answer.lacks_scope or answer.too_heavy:
            return NoCard(str(self.failures.of_part(answer.too_heavy or answer.parts[0], call)))
        return find_card(self, self.require(answer, call, *BOARD_PLACES, ISSUE), call)

    def branch_pull(self, branch: str) -> Pull | None:
        """Return the newest pull request of a branch of this repository."""
        attempted = f"looking for pull requests of branch {branch} in {self.repository.full_name}"
        call = Call("branch_pull", self.names | {"branch": branch}, attempted, Area.PULLS)
        answer = self.ask(call)
        nodes = own_nodes(self, thing_at(answer, call, *REPOSITORY).get("pullRequests"))
        return next((with_feedback(pull_of(node), node) for node in nodes), None)

    def closing(self, *, issue: int, pull: int | None, branch: str, marker: str) -> ClosingFacts:
        """Return everything that closing the task depends on."""
        values = self.names | {
            "issue": issue,
            "pull": pull or 0,
            "byNumber": pull is not None,
            "branch": branch,
            "byBranch": bool(branch),
        }
        call = Call("closing", values, f"reading issue #{issue} and its pull request", Area.ISSUES)
        answer, card = ask_with_card(self, call, (*REPOSITORY, "pullRequest"))
        found = thing_at(answer, call, *ISSUE)
        return ClosingFacts(
            issue_id=str(found["id"]),
            is_open=found["state"] == "OPEN",
            title=str(found["title"]),
            has_comment=any(marker in str(comment.get("body")) for comment in answer.nodes(*ISSUE, "comments")),
            pull=_closing_pull(self, answer),
            card=card,
            may_close=found.get("viewerCanClose") is not False,
        )

    def task(self, issue: int) -> Task:
        """Return everything that claiming or releasing an issue depends on."""
        values = self.names | {"issue": issue, "priorityName": self.settings.board.priority_field}
        call = Call("task", values, f"reading issue #{issue}", Area.ISSUES)
        try:
            answer, card = ask_with_card(self, call, *RELATIVES, fallback="task_plain")
        except NotFound as error:
            raise _no_issue(self, issue, error) from None
        found, viewer = thing_at(answer, call, *ISSUE), thing_at(answer, call, "viewer")
        blockers, parts = relatives_in(self, answer, "blockedBy"), relatives_in(self, answer, "subIssues")
        holders, parent = holders_of(self, found, viewer=str(viewer["login"])), parent_in(self, answer)
        return Task(
            viewer=Person(str(viewer["login"]), str(viewer["id"])),
            issue_id=str(found["id"]),
            number=int(found["number"]),
            title=str(found["title"]),
            url=str(found["url"]),
            is_open=found["state"] == "OPEN",
            assignees=holders.assignees,
            open_blockers=blockers.here,
            open_sub_issues=parts.here,
            card=card,
            priority=_priority(answer),
            default_branch=_text_at(answer, *REPOSITORY, "defaultBranchRef", "name") or "",
            parent=next(iter(parent.here), None),
            foreign_parent=next(iter(parent.foreign), ""),
            foreign_blockers=blockers.foreign,
            foreign_sub_issues=parts.foreign,
            hidden_blockers=max(0, open_blockers_of(found) - blockers.count),
            bots=holders.bots,
            assignee_ids=holders.ids,
            rival_pulls=holders.rival_pulls,
            brief=brief_in(self, found),
            role=_text_at(answer, *REPOSITORY, "viewerPermission") or "",
        )


def _no_issue(line: Line, number: int, error: NotFound) -> NotFound:
    """Say that there is no such issue, and where the number is that of a pull request."""
    from agent_sync.gateway.transport.rest import Rest

    if "an Issue" not in error.happened:
        return error
    try:
        Rest(line).ask("GET", f"pulls/{number}", None, Call("", attempted=error.attempted))
    except GitHubError:
        happened = f"There is no issue #{number} in {line.repository.full_name}, or this token may not see it."
    else:
        happened = f"#{number} is a pull request, not an issue."
    return NotFound(happened, attempted=error.attempted, helps="agent-sync next, which lists what can be claimed")


def _closing_pull(line: Line, answer: GraphQLAnswer) -> Pull | None:
    numbered = answer.at(*REPOSITORY, "pullRequest")
    if isinstance(numbered, dict):
        return pull_of(numbered)
    return next(iter(own_pulls(line, answer.at(*REPOSITORY, "pullRequests"))), None)


def _priority(answer: GraphQLAnswer) -> str | None:
    board = answer.at("boardOwner", "projectV2")
    item = item_on(answer, board) if board else None
    return values_of(item).priority if item else None


def _ahead(answer: GraphQLAnswer, base: str) -> int | None:
    ahead = answer.at(*REPOSITORY, base, "compare", "aheadBy")
    return ahead if isinstance(ahead, int) else None


def _text_at(answer: GraphQLAnswer, *place: str) -> str | None:
    found = answer.at(*place)
    return found if isinstance(found, str) else None


def pull_of(node: Json) -> Pull:
    """Return one pull request, without what only a poll asks for."""
    return Pull(
        number=int(node["number"]),
        url=str(node["url"]),
        state=STATES[node["state"]],
        head_sha=str(node["headRefOid"]),
        title=str(node.get("title") or ""),
        id=str(node.get("id") or ""),
        body=str(node.get("body") or ""),
        is_draft=bool(node.get("isDraft")),
        merge_commit=str((node.get("mergeCommit") or {}).get("oid") or ""),
    )


def own_pulls(line: Line, connection: Any) -> tuple[Pull, ...]:
    """Return the pull requests from the repository that takes our branches; other forks may have one of that name."""
    return tuple(pull_of(node) for node in own_nodes(line, connection))


def own_nodes(line: Line, connection: Any) -> list[Json]:
    """Return the nodes of pull requests from the repository that takes our branches."""
    return [node for node in nodes_of(connection) if _is_own_head(line, node)]


def _is_own_head(line: Line, node: Json) -> bool:
    if not (line.fork and node.get("isCrossRepository")):
        return not line.fork and not node.get("isCrossRepository")
    owner = str((node.get("headRepositoryOwner") or {}).get("login") or "")
    return is_same_name(owner, line.fork.partition("/")[0])


def head_name(line: Line, branch: str) -> str:
    """Return how a pull request names its head: a fork's branch by its owner too."""
    return f"{line.fork.partition('/')[0]}:{branch}" if line.fork else branch


def fork_variables(line: Line) -> dict[str, Any]:
    """Return the variables that name the fork which takes the branches, if one does."""
    owner, _, name = line.fork.partition("/")
    return {"forkOwner": owner, "forkName": name, "isFork": bool(line.fork)}


def check_of(node: Json) -> CheckRun:
    """Return one check run or commit status; a run that is not over counts by its status."""
    if "context" in node:
        return CheckRun(
            str(node["context"]),
            str(node.get("contextState") or ""),
            started=str(node.get("createdAt") or ""),
            url=str(node.get("targetUrl") or ""),
        )
    is_over = node.get("status") == "COMPLETED"
    result = node.get("conclusion") if is_over else node.get("status")
    run = (node.get("checkSuite") or {}).get("workflowRun") or {}
    return CheckRun(
        name=str(node["name"]),
        result=str(result or ""),
        workflow=str((run.get("workflow") or {}).get("name") or ""),
        started=str(node.get("startedAt") or ""),
        event=str(run.get("event") or ""),
        url=str(node.get("detailsUrl") or ""),
    )
