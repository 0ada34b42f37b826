"""What the rest of agent-sync may ask of GitHub, in its own words; errors are those of `agent_sync.errors`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from agent_sync.gateway.ref_values import ApiCommit, TreeEntry
from agent_sync.task.decision.actions import CardChange, CloseTask, OpenPull
from agent_sync.task.decision.claims_seen import ClaimAsked, ClaimsSeen
from agent_sync.task.decision.facts import NOTHING_WATCHED, Card, ClosingFacts, Lookup, NoCard, Pull, Watched
from agent_sync.task.decision.feedback.reviews import Review
from agent_sync.task.decision.pull_orders import PullExtras, PullUpdate
from agent_sync.task.decision.tasks import BoardColumn, BoardIssue, BoardSeen, BoardShape, Convoy, Person, Task
from agent_sync.task.failures.failure import JobOutput

if TYPE_CHECKING:
    from agent_sync.gateway.abilities import Ability
    from agent_sync.gateway.documents import UnknownDocument
    from agent_sync.gateway.transport.budget import ApiBudget


class Gateway(Protocol):
    """One repository and its board.

    Reads may be repeated; a write whose answer was lost raises GitHubDown with `maybe_applied` and is never repeated
    here: whoever comes next looks first.
    """

    @property
    def requests(self) -> int:
        """How many requests have gone out so far."""

    @property
    def budget(self) -> "ApiBudget | None":
        """What is left of this hour's points, as the last answer stated it; None before the first."""

    @property
    def budget_key(self) -> str:
        """What stands for this token wherever its budget is noted."""

    def lookup(self, *, branch: str, issue: int) -> Lookup:
        """Return everything that opening a pull request for `branch` depends on."""

    def open_pull(self, order: OpenPull) -> tuple[Pull, str]:
        """Open a pull request and move its card; return it and what was wrong with the board.

        A refused pull request leaves the card where it was.
        """

    def update_pull(self, pull: Pull, update: PullUpdate, change: CardChange | None) -> tuple[tuple[str, ...], str]:
        """Write title and body, make a draft ready and move the card; return what was refused, and board trouble."""

    def add_extras(self, pull: Pull, extras: PullExtras) -> tuple[str, ...]:
        """Ask for reviews, put labels on and order the merge; return what was refused, as sentences."""

    def pull(
        self,
        number: int,
        *,
        with_checks: bool,
        issue: int | None = None,
        with_text: bool = False,
        watched: Watched = NOTHING_WATCHED,
    ) -> Pull:
        """Return one pull request; if asked, with the checks of its head commit, an issue's state and text, and more.

        That is the card, and a pull request that takes this one back, where `watched` names card and branch.
        """

    def claims(self, asked: Sequence[ClaimAsked]) -> ClaimsSeen:
        """Return the issues and pull requests of many claims, a hundred in each request."""

    def branch_pull(self, branch: str) -> Pull | None:
        """Return the newest pull request of a branch of this repository."""

    def card(self, issue: int) -> Card | NoCard:
        """Return the issue's card, found from the issue, never through the board's list."""

    def cards(self, issues: Sequence[int]) -> Mapping[int, Card]:
        """Return the cards of many issues, a hundred in each request; those that cannot be seen are left out."""

    def move_card(self, change: CardChange) -> None:
        """Write Status and Agent in one request."""

    def add_card(self, issue_id: str, project_id: str) -> Card:
        """Put an issue on a board and return its card."""

    def comment(self, issue_id: str, body: str) -> None:
        """Comment on an issue."""

    def closing(self, *, issue: int, pull: int | None, branch: str, marker: str) -> ClosingFacts:
        """Return everything that closing the task depends on."""

    def close_task(self, order: CloseTask) -> str:
        """Comment, close, move the card and clear the Agent field; return what was wrong with the board."""

    def task(self, issue: int) -> Task:
        """Return everything that claiming or releasing an issue depends on."""

    def claim_task(self, task: Task, change: CardChange | None, *, former: Person | None = None) -> str:
        """Assign the viewer and move the card; return what was wrong with the board."""

    def link_branch(self, task: Task, branch: str, sha: str) -> bool:
        """Create a branch on GitHub that the issue's Development panel shows; False where it is there already."""

    def release_task(self, task: Task, change: CardChange | None) -> str:
        """Take the viewer's assignment back and move the card; return what was wrong with the board."""

    def convoy(self, issue: int) -> Convoy:
        """Return a parent issue with its sub-issues."""

    def escalate(self, issue: int, *, label: str, comment: str, marker: str) -> None:
        """Put a label on an issue and comment once: where a comment has the marker, none is added."""

    def file_issue(self, title: str, body: str, *, marker: str) -> int:
        """Open an issue and return its number; where one has the marker in its text, none is opened."""

    def issue_text(self, issue: int) -> str:
        """Return what an issue's first post says; a pull request is refused."""

    def write_issue_text(self, issue: int, text: str) -> None:
        """Replace what an issue's first post says."""

    def file_text(self, path: str) -> str | None:
        """Return a file of the default branch; None where there is none."""

    def board(self, issue: int | None = None) -> BoardSeen | None:
        """Return the board's columns and the cards of the first three in one request; None where none is configured.

        With it comes what people wrote about `issue`.
        """

    def board_columns(self, limit: int) -> tuple[BoardColumn, ...]:
        """Return the columns in the board's own order, each with its first `limit` issues of any repository."""

    def board_issues(self, text: str = "") -> Iterator[BoardIssue]:
        """Return every issue on the board, or those whose title has `text`, page by page."""

    def boards(self) -> tuple[BoardShape, ...]:
        """Return the boards that may be meant, with their fields.

        The configured one; where none is, the open ones linked to the repository, else those of its owner.
        """

    def viewer(self) -> Person:
        """Return who the token belongs to and what it may do."""

    def failed_job(self, check_url: str) -> JobOutput:
        """Return why the job of Actions that a check belongs to failed."""

    def rerun_failed_jobs(self, check_urls: tuple[str, ...]) -> None:
        """Run the failed jobs of the workflow runs that these checks belong to again."""

    def request_review(self, pull: Pull, reviews: tuple[Review, ...]) -> None:
        """Ask the authors of these reviews to look again."""

    def reply(self, thread: str, body: str) -> str:
        """Answer in a review thread; return the answer's address."""

    def comment_on_pull(self, pull_id: str, body: str) -> None:
        """Comment on a pull request by its id."""

    def resolve_thread(self, thread: str) -> None:
        """Mark a review thread as settled."""

    def abilities(self) -> "tuple[Ability, ...]":
        """Return what this token may do here, tried by writes that cannot change anything."""

    def unknown_documents(self) -> "tuple[UnknownDocument, ...] | None":
        """Return which of our documents the server does not understand; None where it does not tell."""

    def parent(self) -> str:
        """Return the repository that this one is a fork of and leaves its issues to; "" where it has its own."""

    def refs_below(self, name: str) -> Mapping[str, str]:
        """Return every ref whose name begins so, and the object it is at."""

    def read_commit(self, sha: str) -> ApiCommit:
        """Return what a commit holds."""

    def read_tree(self, sha: str) -> tuple[TreeEntry, ...]:
        """Return everything in a tree."""

    def read_blob(self, sha: str) -> bytes:
        """Return a file's bytes."""

    def store_tree(self, files: Mapping[str, bytes]) -> str:
        """Store text files as one tree and return its sha."""

    def store_blob(self, content: bytes) -> str:
        """Store a file's bytes and return its sha."""

    def store_tree_from(self, base: str, entries: Sequence[TreeEntry]) -> str:
        """Store a tree that differs from another in some entries, one without a sha left out, and return its sha."""

    def store_commit(self, commit: ApiCommit) -> ApiCommit:
        """Store a commit that no ref names yet, and return it as it was stored."""

    def update_refs(self, updates: Sequence[tuple[str, str, str]]) -> None:
        """Move all refs, each given as name, old and new value, or none: each only if it still is what it was."""
