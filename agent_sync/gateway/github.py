"""The gateway: every question and order of the port, each handed to the module that knows how."""

from collections.abc import Iterator

from agent_sync.gateway import boards, filing, polls, reads, writes
from agent_sync.gateway.transport.line import Line
from agent_sync.task.decision.actions import CardChange, CloseTask, OpenPull
from agent_sync.task.decision.facts import Card, Closing, Lookup, NoCard, Pull
from agent_sync.task.decision.tasks import BoardIssue, BoardSeen, BoardShape, Convoy, Person, Task


class GitHub:
    """One repository and its board on a real GitHub, or on the local one."""

    def __init__(self, line: Line) -> None:
        self._line = line

    @property
    def requests(self) -> int:
        """How many requests have gone out so far, repeated ones included."""
        return self._line.counter.requests

    def lookup(self, *, branch: str, issue: int) -> Lookup:
        """Return everything that opening a pull request for `branch` depends on."""
        return reads.lookup(self._line, branch=branch, issue=issue)

    def open_pull(self, order: OpenPull) -> tuple[Pull, str]:
        """Open a pull request and move its card; return it and what was wrong with the board."""
        return writes.open_pull(self._line, order)

    def pull(self, number: int, *, with_checks: bool) -> Pull:
        """Return one pull request, with the checks of its head commit if asked."""
        return polls.poll(self._line, number, with_checks=with_checks)

    def branch_pull(self, branch: str) -> Pull | None:
        """Return the newest pull request of a branch of this repository."""
        return reads.branch_pull(self._line, branch)

    def card(self, issue: int) -> Card | NoCard:
        """Return the issue's card."""
        return reads.card(self._line, issue)

    def move_card(self, change: CardChange) -> None:
        """Write Status and Agent in one request."""
        writes.move_card(self._line, change)

    def closing(self, *, issue: int, pull: int | None, branch: str, marker: str) -> Closing:
        """Return everything that closing the task depends on."""
        return reads.closing(self._line, issue=issue, pull=pull, branch=branch, marker=marker)

    def close_task(self, order: CloseTask) -> str:
        """Comment, close, move the card and clear the Agent field; return what was wrong with the board."""
        return writes.close_task(self._line, order)

    def task(self, issue: int) -> Task:
        """Return everything that claiming or releasing an issue depends on."""
        return reads.task(self._line, issue)

    def claim_task(self, task: Task, change: CardChange | None) -> str:
        """Assign the viewer and move the card; return what was wrong."""
        return writes.claim_task(self._line, task, change)

    def release_task(self, task: Task, change: CardChange | None) -> str:
        """Take the viewer's assignment back and move the card; return what was wrong."""
        return writes.release_task(self._line, task, change)

    def convoy(self, issue: int) -> Convoy:
        """Return a parent issue with its sub-issues."""
        return filing.convoy(self._line, issue)

    def escalate(self, issue: int, *, label: str, comment: str, marker: str) -> None:
        """Put a label on an issue and comment once."""
        filing.escalate(self._line, issue, label=label, comment=comment, marker=marker)

    def file_issue(self, title: str, body: str, *, marker: str) -> int:
        """Open an issue once and return its number."""
        return filing.file_issue(self._line, title, body, marker=marker)

    def board(self) -> BoardSeen | None:
        """Return the board's columns and the cards of the first three."""
        return boards.board(self._line)

    def board_issues(self, text: str = "") -> Iterator[BoardIssue]:
        """Return every issue on the board, or those whose title has `text`."""
        return boards.board_issues(self._line, text)

    def boards(self) -> tuple[BoardShape, ...]:
        """Return the boards that may be meant, with their fields."""
        from agent_sync.gateway import shapes

        return shapes.boards(self._line)

    def viewer(self) -> Person:
        """Return who the token belongs to and what it may do."""
        from agent_sync.gateway import people

        return people.viewer(self._line)

    def job_log(self, check_url: str) -> str:
        """Return the end of a failed check's log."""
        from agent_sync.gateway import logs

        return logs.job_log(self._line, check_url)
