"""What can be done about failed checks and requested changes, and what can come of it or of a look."""

from datetime import datetime

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.feedback.reviews import Review


@dataclass(frozen=True)
class RerunJobs:
    """Run the failed jobs of a commit again; `pattern` is why that may help."""

    pull: Pull
    urls: tuple[str, ...]
    names: tuple[str, ...]
    pattern: str


@dataclass(frozen=True)
class RequestReview:
    """Ask those who requested changes to look again."""

    pull: Pull
    reviews: tuple[Review, ...]


@dataclass(frozen=True)
class JobsRerun:
    """Failed jobs were run again, or that was refused."""

    pull: Pull
    names: tuple[str, ...]
    pattern: str
    trouble: str = ""


@dataclass(frozen=True)
class ReviewRequested:
    """Reviewers were asked to look again, or that was refused."""

    pull: Pull
    names: tuple[str, ...]
    review_ids: tuple[str, ...]
    trouble: str = ""


@dataclass(frozen=True)
class PullUnmoved:
    """A look that several claims share found the pull request as the claim knows it."""

    at: datetime


FeedbackAction = RerunJobs | RequestReview
FeedbackOutcome = JobsRerun | ReviewRequested | PullUnmoved
