"""What the rest of agent-sync may ask of GitHub, in its own words; errors are those of `agent_sync.errors`."""

from collections.abc import Iterator
from typing import Protocol

from agent_sync.task.decision.actions import CardChange, CloseTask, OpenPull
from agent_sync.task.decision.facts import Card, Closing, Lookup, NoCard, Pull
from agent_sync.task.decision.tasks import BoardIssue, BoardSeen, BoardShape, Convoy, Person, Task


class Gateway(Protocol):
    """One repository and its board.

    Reads may be repeated; a write whose answer was lost raises GitHubDown with `maybe_applied` and is never repeated
    here: whoever comes next looks first.
    """

    @property
    def requests(self) -> int:
        """How many requests have gone out so far."""

    def lookup(self, *, branch: str, issue: int) -> Lookup:
        """Return everything that opening a pull request for `branch` depends on."""

    def open_pull(self, order: OpenPull) -> tuple[Pull, str]:
        """Open a pull request and move its card; return it and what was wrong with the board.

        A refused pull request leaves the card where it was.
        """

    def pull(self, number: int, *, with_checks: bool) -> Pull:
        """Return one pull request, with the checks of its head commit if asked."""

    def branch_pull(self, branch: str) -> Pull | None:
        """Return the newest pull request of a branch of this repository."""

    def card(self, issue: int) -> Card | NoCard:
        """Return the issue's card, found from the issue, never through the board's list."""

    def move_card(self, change: CardChange) -> None:
        """Write Status and Agent in one request."""

    def closing(self, *, issue: int, pull: int | None, branch: str, marker: str) -> Closing:
        """Return everything that closing the task depends on."""

    def close_task(self, order: CloseTask) -> str:
        """Comment, close, move the card and clear the Agent field; return what was wrong with the board."""

    def task(self, issue: int) -> Task:
        """Return everything that claiming or releasing an issue depends on."""

    def claim_task(self, task: Task, change: CardChange | None) -> str:
        """Assign the viewer and move the card; return what was wrong with the board."""

    def release_task(self, task: Task, change: CardChange | None) -> str:
        """Take the viewer's assignment back and move the card; return what was wrong with the board."""

    def convoy(self, issue: int) -> Convoy:
        """Return a parent issue with its sub-issues."""

    def escalate(self, issue: int, *, label: str, comment: str, marker: str) -> None:
        """Put a label on an issue and comment once: where a comment has the marker, none is added."""

    def file_issue(self, title: str, body: str, *, marker: str) -> int:
        """Open an issue and return its number; where one has the marker in its text, none is opened."""

    def board(self) -> BoardSeen | None:
        """Return the board's columns and the cards of the first three in one request; None where none is configured."""

    def board_issues(self, text: str = "") -> Iterator[BoardIssue]:
        """Return every issue on the board, or those whose title has `text`, page by page."""

    def boards(self) -> tuple[BoardShape, ...]:
        """Return the boards that may be meant, with their fields.

        The configured one; where none is, the open ones linked to the repository, else those of its owner.
        """

    def viewer(self) -> Person:
        """Return who the token belongs to and what it may do."""

    def job_log(self, check_url: str) -> str:
        """Return the end of a failed check's log."""
