"""Many claims as GitHub sees them at once: each with its issue, its pull request, and when what happened to it."""

from dataclasses import field
from datetime import datetime

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.decision.facts import Pull


@dataclass(frozen=True)
class ClaimAsked:
    """One claim to ask about: its pull request by number, or by the branch where no number is known."""

    issue: int
    pull: int | None = None
    branch: str = ""


@dataclass(frozen=True)
class PullMoments:
    """When a pull request was opened, pushed to, checked, reviewed and ended; None where that is not known."""

    opened: datetime | None = None
    pushed: datetime | None = None
    checked: datetime | None = None
    reviewed: datetime | None = None
    ended: datetime | None = None


@dataclass(frozen=True)
class ClaimedIssue:
    """The issue of a claim, and the claim's pull request with whoever opened it."""

    number: int
    title: str
    url: str
    is_open: bool
    assignees: tuple[str, ...] = ()
    pull: Pull | None = None
    pull_author: str = ""
    moments: PullMoments = field(default_factory=PullMoments)


@dataclass(frozen=True)
class ClaimsSeen:
    """What GitHub answered: who asks, and every issue that there is."""

    viewer: str
    issues: tuple[ClaimedIssue, ...] = ()
    # Those that were transferred or deleted, by the number they had here.
    gone: frozenset[int] = frozenset()

    def issue(self, number: int) -> ClaimedIssue | None:
        """Return one of the issues."""
        return next((one for one in self.issues if one.number == number), None)
