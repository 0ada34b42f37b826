"""A GitHub that nobody may ask; a fake extends it and answers what its tests need."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Never

from agent_sync.gateway.abilities import Ability
from agent_sync.gateway.documents import UnknownDocument
from agent_sync.gateway.port import Gateway
from agent_sync.gateway.ref_values import ApiCommit, TreeEntry
from agent_sync.gateway.transport.budget import ApiBudget
from agent_sync.task.decision.actions import CardChange, CloseTask, OpenPull
from agent_sync.task.decision.claims_seen import ClaimAsked, ClaimsSeen
from agent_sync.task.decision.facts import NOTHING_WATCHED, Card, ClosingFacts, Lookup, NoCard, Pull, Watched
from agent_sync.task.decision.feedback.reviews import Review
from agent_sync.task.decision.pull_orders import PullExtras, PullUpdate
from agent_sync.task.decision.tasks import BoardColumn, BoardIssue, BoardSeen, BoardShape, Convoy, Person, Task
from agent_sync.task.failures.failure import JobOutput


class UnaskedGitHub(Gateway):
    """Fails the test at every question; mypy holds each signature against the port."""

    @property
    def requests(self) -> int:
        """No request goes out."""
        return 0

    @property
    def budget(self) -> ApiBudget | None:
        """Nothing is known."""
        return None

    @property
    def budget_key(self) -> str:
        """No token is used."""
        return ""

    def lookup(self, *, branch: str, issue: int) -> Lookup:
        """Fail."""
        _fail("lookup", branch, issue)

    def open_pull(self, order: OpenPull) -> tuple[Pull, str]:
        """Fail."""
        _fail("open_pull", order)

    def update_pull(self, pull: Pull, update: PullUpdate, change: CardChange | None) -> tuple[tuple[str, ...], str]:
        """Fail."""
        _fail("update_pull", pull, update, change)

    def add_extras(self, pull: Pull, extras: PullExtras) -> tuple[str, ...]:
        """Fail."""
        _fail("add_extras", pull, extras)

    def pull(
        self,
        number: int,
        *,
        with_checks: bool,
        issue: int | None = None,
        with_text: bool = False,
        watched: Watched = NOTHING_WATCHED,
    ) -> Pull:
        """Fail."""
        _fail("pull", number, with_checks, issue, with_text, watched)

    def claims(self, asked: Sequence[ClaimAsked]) -> ClaimsSeen:
        """Fail."""
        _fail("claims", asked)

    def branch_pull(self, branch: str) -> Pull | None:
        """Fail."""
        _fail("branch_pull", branch)

    def card(self, issue: int) -> Card | NoCard:
        """Fail."""
        _fail("card", issue)

    def cards(self, issues: Sequence[int]) -> Mapping[int, Card]:
        """Fail."""
        _fail("cards", issues)

    def move_card(self, change: CardChange) -> None:
        """Fail."""
        _fail("move_card", change)

    def closing(self, *, issue: int, pull: int | None, branch: str, marker: str) -> ClosingFacts:
        """Fail."""
        _fail("closing", issue, pull, branch, marker)

    def close_task(self, order: CloseTask) -> str:
        """Fail."""
        _fail("close_task", order)

    def task(self, issue: int) -> Task:
        """Fail."""
        _fail("task", issue)

    def add_card(self, issue_id: str, project_id: str) -> Card:
        """Fail."""
        _fail("add_card", issue_id, project_id)

    def comment(self, issue_id: str, body: str) -> None:
        """Fail."""
        _fail("comment", issue_id, body)

    def claim_task(self, task: Task, change: CardChange | None, *, former: Person | None = None) -> str:
        """Fail."""
        _fail("claim_task", task, change, former)

    def link_branch(self, task: Task, branch: str, sha: str) -> bool:
        """Fail."""
        _fail("link_branch", task, branch, sha)

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

    def issue_text(self, issue: int) -> str:
        """Fail."""
        _fail("issue_text", issue)

    def write_issue_text(self, issue: int, text: str) -> None:
        """Fail."""
        _fail("write_issue_text", issue, text)

    def file_text(self, path: str) -> str | None:
        """Fail."""
        _fail("file_text", path)

    def board(self, issue: int | None = None) -> BoardSeen | None:
        """Fail."""
        _fail("board", issue)

    def board_columns(self, limit: int) -> tuple[BoardColumn, ...]:
        """Fail."""
        _fail("board_columns", limit)

    def board_issues(self, text: str = "") -> Iterator[BoardIssue]:
        """Fail."""
        _fail("board_issues", text)

    def boards(self) -> tuple[BoardShape, ...]:
        """Fail."""
        _fail("boards")

    def viewer(self) -> Person:
        """Fail."""
        _fail("viewer")

    def failed_job(self, check_url: str) -> JobOutput:
        """Fail."""
        _fail("failed_job", check_url)

    def rerun_failed_jobs(self, check_urls: tuple[str, ...]) -> None:
        """Fail."""
        _fail("rerun_failed_jobs", check_urls)

    def request_review(self, pull: Pull, reviews: tuple[Review, ...]) -> None:
        """Fail."""
        _fail("request_review", pull, reviews)

    def reply(self, thread: str, body: str) -> str:
        """Fail."""
        _fail("reply", thread, body)

    def comment_on_pull(self, pull_id: str, body: str) -> None:
        """Fail."""
        _fail("comment_on_pull", pull_id, body)

    def resolve_thread(self, thread: str) -> None:
        """Fail."""
        _fail("resolve_thread", thread)

    def unknown_documents(self) -> tuple[UnknownDocument, ...] | None:
        """Fail."""
        _fail("unknown_documents")

    def abilities(self) -> tuple[Ability, ...]:
        """Fail."""
        _fail("abilities")

    def parent(self) -> str:
        """Fail."""
        _fail("parent")

    def refs_below(self, name: str) -> Mapping[str, str]:
        """Fail."""
        _fail("refs_below", name)

    def read_commit(self, sha: str) -> ApiCommit:
        """Fail."""
        _fail("read_commit", sha)

    def read_tree(self, sha: str) -> tuple[TreeEntry, ...]:
        """Fail."""
        _fail("read_tree", sha)

    def read_blob(self, sha: str) -> bytes:
        """Fail."""
        _fail("read_blob", sha)

    def store_tree(self, files: Mapping[str, bytes]) -> str:
        """Fail."""
        _fail("store_tree", files)

    def store_blob(self, content: bytes) -> str:
        """Fail."""
        _fail("store_blob", content)

    def store_tree_from(self, base: str, entries: Sequence[TreeEntry]) -> str:
        """Fail."""
        _fail("store_tree_from", base, entries)

    def store_commit(self, commit: ApiCommit) -> ApiCommit:
        """Fail."""
        _fail("store_commit", commit)

    def update_refs(self, updates: Sequence[tuple[str, str, str]]) -> None:
        """Fail."""
        _fail("update_refs", updates)


def _fail(name: str, *arguments: object) -> Never:
    raise AssertionError(f"{name}{arguments} was asked of a GitHub that has no answer to it")
