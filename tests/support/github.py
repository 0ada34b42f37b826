"""A GitHub in memory: one task and at most one board, as far as the loop asks for them."""

from dataclasses import dataclass, field, replace
from typing import Any

from support.unasked_github import UnaskedGitHub

from agent_sync.errors import AgentSyncError, NotFound
from agent_sync.task.decision.actions import CardChange, CloseTask, OpenPull
from agent_sync.task.decision.facts import (
    NOTHING_WATCHED,
    Card,
    ClosingFacts,
    IssueSeen,
    Lookup,
    NoCard,
    Pull,
    PullState,
    Watched,
)
from agent_sync.task.decision.pull_orders import PullUpdate
from agent_sync.task.failures.failure import JobOutput

CARD = Card(
    project_id="PVT_1",
    item_id="PVTI_1",
    is_archived=False,
    status="In Progress",
    agent="octo-1738000000",
    status_field_id="F_status",
    options=(("Todo", "o1"), ("In Progress", "o2"), ("In Review", "o3"), ("Done", "o4")),
    agent_field_id="F_agent",
)


def pull(number: int = 107, state: PullState = PullState.OPEN, **fields: Any) -> Pull:
    """Return a pull request of the claim's branch."""
    known = {"merge_state": "CLEAN"} | fields
    return Pull(number, f"https://github.com/octo/demo/pull/{number}", state, "a" * 40, **known)


@dataclass
class FakeGitHub(UnaskedGitHub):
    """Answers from fields, records every call, and fails where told to."""

    remote_sha: str | None = "a" * 40
    commits_ahead: int | None = 1
    pulls: list[Pull] = field(default_factory=list)
    card_seen: Card | NoCard = CARD
    issue_open: bool = True
    comments: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    logs: dict[str, JobOutput] = field(default_factory=dict)
    reruns: list[tuple[str, ...]] = field(default_factory=list)
    failing: dict[str, AgentSyncError] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """How many calls came."""
        return len(self.calls)

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if name in self.failing:
            raise self.failing.pop(name)

    def lookup(self, *, branch: str, issue: int) -> Lookup:
        """Answer from the fields."""
        self._called("lookup")
        assert branch
        assert issue
        return Lookup("R_1", "main", self.remote_sha, self.commits_ahead, tuple(self.pulls), self.card_seen)

    def open_pull(self, order: OpenPull) -> tuple[Pull, str]:
        """Open the pull request and move the card."""
        self._called("open_pull")
        opened = pull(107 + len(self.pulls), body=order.body, is_draft=order.draft)
        self.pulls.append(opened)
        self._moved(order.change)
        return opened, ""

    def update_pull(self, pull: Pull, update: PullUpdate, change: CardChange | None) -> tuple[tuple[str, ...], str]:
        """Write what is to be written."""
        self._called("update_pull")
        changed = replace(
            pull,
            title=update.title if update.retitle else pull.title,
            body=update.body if update.rewrite else pull.body,
            is_draft=pull.is_draft and not update.ready,
        )
        self.pulls = [changed if one.number == pull.number else one for one in self.pulls]
        self._moved(change)
        return (), ""

    def pull(
        self,
        number: int,
        *,
        with_checks: bool,
        issue: int | None = None,
        with_text: bool = False,  # noqa: ARG002
        watched: Watched = NOTHING_WATCHED,  # noqa: ARG002
    ) -> Pull:
        """Return one pull request, its checks and the issue's state only if asked."""
        self._called("pull")
        found = next(pull for pull in self.pulls if pull.number == number)
        known = replace(found, issue=IssueSeen(self.issue_open) if issue is not None else None)
        return known if with_checks else replace(known, checks=None)

    def failed_job(self, check_url: str) -> JobOutput:
        """Return the log of a job; without one the check has none."""
        self._called("failed_job")
        if check_url not in self.logs:
            raise NotFound("This check has no log on GitHub: it is not a job of Actions.")
        return self.logs[check_url]

    def rerun_failed_jobs(self, check_urls: tuple[str, ...]) -> None:
        """Note what was run again."""
        self._called("rerun_failed_jobs")
        self.reruns.append(check_urls)

    def card(self, issue: int) -> Card | NoCard:
        """Return the card."""
        self._called("card")
        assert issue
        return self.card_seen

    def move_card(self, change: CardChange) -> None:
        """Move the card."""
        self._called("move_card")
        self._moved(change)

    def closing(self, *, issue: int, pull: int | None, branch: str, marker: str) -> ClosingFacts:  # noqa: ARG002
        """Answer from the fields."""
        self._called("closing")
        assert issue
        found = next((one for one in self.pulls if pull in {one.number, None}), None)
        has_comment = any(marker in comment for comment in self.comments)
        return ClosingFacts("I_42", self.issue_open, "A title", has_comment, found, self.card_seen)

    def close_task(self, order: CloseTask) -> str:
        """Comment, close, move."""
        self._called("close_task")
        if order.comment:
            self.comments.append(order.comment)
        self.issue_open = self.issue_open and not order.close
        self._moved(order.change)
        return ""

    def _moved(self, change: CardChange | None) -> None:
        if change and isinstance(self.card_seen, Card):
            status = change.status or self.card_seen.status
            self.card_seen = replace(self.card_seen, status=status, agent=change.agent or None)
