"""A GitHub that nobody may ask; a fake extends it and answers what its tests need."""

from collections.abc import Iterator
from typing import Never

from agent_sync.gateway.port import Gateway
from agent_sync.task.decision.actions import CardChange, CloseTask, OpenPull
from agent_sync.task.decision.facts import Card, Closing, Lookup, NoCard, Pull
from agent_sync.task.decision.tasks import BoardIssue, BoardSeen, BoardShape, Convoy, Person, Task


class UnaskedGitHub(Gateway):
    """Fails the test at every question; mypy holds each signature against the port."""

    @property
    def requests(self) -> int:
        """No request goes out."""
        return 0

    def lookup(self, *, branch: str, issue: int) -> Lookup:
        """Fail."""
        _fail("lookup", branch, issue)

    def open_pull(self, order: OpenPull) -> tuple[Pull, str]:
        """Fail."""
        _fail("open_pull", order)

    def pull(self, number: int, *, with_checks: bool) -> Pull:
        """Fail."""
        _fail("pull", number, with_checks)

    def branch_pull(self, branch: str) -> Pull | None:
        """Fail."""
        _fail("branch_pull", branch)

    def card(self, issue: int) -> Card | NoCard:
        """Fail."""
        _fail("card", issue)

    def move_card(self, change: CardChange) -> None:
        """Fail."""
        _fail("move_card", change)

    def closing(self, *, issue: int, pull: int | None, branch: str, marker: str) -> Closing:
        """Fail."""
        _fail("closing", issue, pull, branch, marker)

    def close_task(self, order: CloseTask) -> str:
        """Fail."""
        _fail("close_task", order)

    def task(self, issue: int) -> Task:
        """Fail."""
        _fail("task", issue)

    def claim_task(self, task: Task, change: CardChange | None) -> str:
        """Fail."""
        _fail("claim_task", task, change)

    def release_task(self, task: Task, change: CardChange | None) -> str:
        """Fail."""
        _fail("release_task", task, change)

    def convoy(self, issue: int) -> Convoy:
        """Fail."""
        _fail("convoy", issue)

    def escalate(self, issue: int, *, label: str, comment: str, marker: str) -> None:
        """Fail."""
        _fail("escalate", issue, label, comment, marker)

    def file_issue(self, title: str, body: str, *, marker: str) -> int:
        """Fail."""
        _fail("file_issue", title, body, marker)

    def board(self) -> BoardSeen | None:
        """Fail."""
        _fail("board")

    def board_issues(self, text: str = "") -> Iterator[BoardIssue]:
        """Fail."""
        _fail("board_issues", text)

    def boards(self) -> tuple[BoardShape, ...]:
        """Fail."""
        _fail("boards")

    def viewer(self) -> Person:
        """Fail."""
        _fail("viewer")

    def job_log(self, check_url: str) -> str:
        """Fail."""
        _fail("job_log", check_url)


def _fail(name: str, *arguments: object) -> Never:
    raise AssertionError(f"{name}{arguments} was asked of a GitHub that has no answer to it")
