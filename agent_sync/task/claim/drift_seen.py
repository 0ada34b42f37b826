"""What others have made of a task on GitHub, as the claim remembers it between looks."""

from enum import StrEnum
from typing import Annotated

from agent_sync.plain.fields import Field
from agent_sync.plain.model import Model


class IssueChange(StrEnum):
    """What somebody did to the issue while its pull request was open."""

    NONE = ""
    CLOSED = "closed"
    REOPENED = "reopened"
    GONE = "gone"


class DriftSeen(Model):
    """What others had changed when the pull request was last looked at; empty where they had not."""

    base: Annotated[str, Field(description="The base branch that somebody chose instead")] = ""
    foreign_head: Annotated[str, Field(description="The pull request's head, pushed by somebody else")] = ""
    forced_by: Annotated[str, Field(description="Who has put it there by force")] = ""
    is_branch_deleted: Annotated[bool, Field(description="The branch is gone from GitHub")] = False
    reopened_sha: Annotated[str, Field(description="The head at which the pull request was opened again")] = ""
    issue: Annotated[IssueChange, Field(strict=False, description="What became of the issue")] = IssueChange.NONE
    is_reassigned: Annotated[bool, Field(description="The issue is not ours to work on by its assignment")] = False
    assignees: Annotated[tuple[str, ...], Field(strict=False, description="Who has the issue instead")] = ()
    card_status: Annotated[str, Field(description="Where somebody has moved the card")] = ""
    revert: Annotated[int | None, Field(ge=1, description="The pull request that takes the merge back")] = None
    is_revert_merged: Annotated[bool, Field(description="The merge was taken back")] = False


NO_DRIFT = DriftSeen()
