"""Situations that somebody else has brought about: on GitHub, or with the branch."""

from agent_sync.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class IssueClosed:
    """Somebody has closed the issue before the work was merged."""

    issue: int
    pr: int | None


@dataclass(frozen=True)
class IssueReopened:
    """The issue was closed before the merge, and is open again."""

    issue: int
    pr: int | None


@dataclass(frozen=True)
class IssueGone:
    """The issue was transferred to another repository, or deleted."""

    issue: int
    pr: int | None


@dataclass(frozen=True)
class Reassigned:
    """Somebody has given the issue to others, or to nobody."""

    issue: int
    pr: int | None
    assignees: tuple[str, ...]


@dataclass(frozen=True)
class ForeignHead:
    """Somebody else has pushed to the pull request's branch; with a name where that was by force."""

    pr: int | None
    sha: str
    forced_by: str = ""


@dataclass(frozen=True)
class BranchDeleted:
    """The pull request was closed, and its branch is gone from GitHub."""

    issue: int
    pr: int | None


@dataclass(frozen=True)
class Reopened:
    """The pull request was closed, and is open again."""

    pr: int | None


@dataclass(frozen=True)
class Retargeted:
    """Somebody has chosen another base branch for the pull request."""

    pr: int | None
    base: str


@dataclass(frozen=True)
class MovedOnBoard:
    """Somebody has moved the card, and it is left there."""

    issue: int
    pr: int | None
    status: str


@dataclass(frozen=True)
class Reverted:
    """Another pull request takes the merged one back, or has done so."""

    issue: int
    pr: int | None
    revert: int
    is_merged: bool


DriftSituation = (
    IssueClosed
    | IssueReopened
    | IssueGone
    | Reassigned
    | ForeignHead
    | BranchDeleted
    | Reopened
    | Retargeted
    | MovedOnBoard
    | Reverted
)
