"""The claim: the eleven documented fields, a few of ours, and whatever else someone wrote beside them."""

import json
import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from agent_sync.errors import BadClaim, ClaimTooNew
from agent_sync.system.bounds import InCalendar, Number, Ttl
from agent_sync.task.claim.phases import Phase, WithheldBy

SCHEMA_VERSION = 1
FIRST_YEAR, LAST_YEAR = 1970, 2199
# GitHub's numbers are 32-bit integers.
LARGEST_NUMBER = (1 << 31) - 1


def _moment_or_never(value: object) -> datetime | None:
    """Read a moment; one that cannot be read means "never", so that polling is never silently stuck."""
    if isinstance(value, datetime):
        return value
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    # Beyond these years a moment cannot be told in other time zones, or reckoned with.
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _moment(value: object) -> object:
    """Read a moment that has to be there; one that cannot be read is left for the refusal to show."""
    return _moment_or_never(value) or value


Moment = Annotated[datetime | None, BeforeValidator(_moment_or_never)]
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class ChecksSeen(BaseModel):
    """What the last look at the checks found, for the status line."""

    model_config = ConfigDict(frozen=True, extra="allow")

    sha: str
    passed: Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
    total: Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
    state: str
    failed: Annotated[tuple[str, ...], Field(strict=False, description="The names of failed checks")] = ()


class FeedbackSeen(BaseModel):
    """What stood against a merge when the pull request was last looked at, apart from its checks."""

    model_config = ConfigDict(frozen=True, extra="allow")

    changes_requested_by: Annotated[tuple[str, ...], Field(strict=False, description="Who wants changes")] = ()
    is_conflicting: Annotated[bool, Field(description="It conflicts with its base branch")] = False


class WithheldNote(BaseModel):
    """Why the last attempt to open the pull request, or to close the issue, came to nothing."""

    model_config = ConfigDict(frozen=True, extra="allow")

    by: Annotated[WithheldBy, Field(strict=False, description="What withholds it")]
    reason: Annotated[str, Field(description="Why, as a sentence")]


_LEFT_BEFORE = re.compile(r"the hook of (\S+) \(`agent-sync worker take` goes on with it\)")


class LeaseNote(BaseModel):
    """What this worktree must remember of the lease that makes the claim hold against others."""

    model_config = ConfigDict(frozen=True, extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _left(cls, values: Any) -> Any:
        """Read a note of 0.1.0, which called work that was left on a hook a loss."""
        lost_to = values.get("lost_to") if isinstance(values, dict) else None
        found = _LEFT_BEFORE.fullmatch(lost_to) if isinstance(lost_to, str) else None
        return {**values, "lost_to": "", "left_on": found[1]} if found else values

    where: Annotated[
        Literal["remote", "clone"], Field(description="Holds for everyone who uses the remote, or for this clone only")
    ]
    epoch: Annotated[Number, Field(description="How many holders the issue has had, this one included")]
    nonce: Annotated[str, Field(min_length=1, max_length=200, description="Tells this holding from every other")]
    sha: Annotated[str, Field(max_length=200, description="The claim commit last seen; a hint only")] = ""
    renewed_at: Annotated[datetime, BeforeValidator(_moment), InCalendar, Field(description="Last sign of life")]
    ttl_s: Annotated[Ttl, Field(description="How long it lasts without one")]
    mode: Annotated[Literal["auto", "manual"], Field(description="A manual lease never expires")] = "manual"
    lost_to: Annotated[str, Field(description="Who holds the issue now, once the lease is lost")] = ""
    left_on: Annotated[str, Field(description="The worker on whose hook the work was left")] = ""


class Claim(BaseModel):
    """One task held by one agent, from claim to close."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    schema_version: Annotated[Literal[1], Field(description="Always 1")]
    item_id: Annotated[Text, Field(description="The task's item on the board; a hint only")] = ""
    issue_number: Annotated[int, Field(ge=1, le=LARGEST_NUMBER, description="The issue to close in the end")]
    branch: Annotated[Text, Field(description="The branch the pull request is opened from")] = ""
    agent_id: Annotated[Text, Field(description="What the board's Agent field says")] = ""
    phase: Annotated[Phase, Field(strict=False, description="Where the task stands")]
    summary: Annotated[Text, Field(description="Title of the pull request")] = ""
    status: Annotated[Text, Field(description="What the board's Status field should say")] = ""
    pr_number: Annotated[int | None, Field(ge=1, le=LARGEST_NUMBER, description="The pull request")] = None
    last_check_poll: Annotated[Moment, Field(description="Last look at the checks")] = None
    last_synced_status: Annotated[str | None, Field(description="What the board's Status field was set to")] = None

    # Ours, written only when they say something.
    closed_unmerged: Annotated[bool, Field(description="The pull request was closed without merging")] = False
    close_unmerged: Annotated[
        bool, Field(description="A human said `done --yes`; counts only as that command has recorded it")
    ] = False
    draft: Annotated[bool, Field(description="Open the pull request as a draft")] = False
    not_before: Annotated[Moment, Field(description="GitHub asked not to be called before")] = None
    refused_status: Annotated[str | None, Field(description="A status the board does not have; not tried again")] = None
    is_unmirrored: Annotated[bool, Field(description="The claim was not told to GitHub yet")] = False
    checks: Annotated[ChecksSeen | None, Field(strict=False)] = None
    feedback: Annotated[
        FeedbackSeen | None, Field(strict=False, description="What stands against a merge, as last seen")
    ] = None
    withheld: Annotated[
        WithheldNote | None, Field(strict=False, description="Why there is no pull request yet, or the issue is open")
    ] = None
    lease: Annotated[LeaseNote | None, Field(strict=False, description="The lease; kept by agent-sync alone")] = None

    @property
    def is_lost(self) -> bool:
        """Whether somebody else is known to hold the issue now."""
        return self.lease is not None and bool(self.lease.lost_to)

    @property
    def is_left(self) -> bool:
        """Whether the work was left on a worker's hook."""
        return self.lease is not None and bool(self.lease.left_on) and not self.lease.lost_to

    @property
    def may_act(self) -> bool:
        """Whether this worktree may still push and write for the issue, as far as it knows."""
        return not self.is_lost and not self.is_left

    def to_json(self) -> bytes:
        """Return the bytes to write: documented fields in their order, ours only where set, others as they were."""
        values = self.model_dump(mode="json")
        kept = {key: value for key, value in values.items() if key in DOCUMENTED or not self._is_default(key)}
        text = json.dumps(kept, indent=2, ensure_ascii=False) + "\n"
        try:
            return text.encode()
        except UnicodeEncodeError:
            # Half a character, as a cut emoji leaves it, can only be written escaped.
            return (json.dumps(kept, indent=2) + "\n").encode()

    def _is_default(self, key: str) -> bool:
        field = Claim.model_fields.get(key)
        return field is not None and getattr(self, key) == field.default


DOCUMENTED = (
    "schema_version",
    "item_id",
    "issue_number",
    "branch",
    "agent_id",
    "phase",
    "summary",
    "status",
    "pr_number",
    "last_check_poll",
    "last_synced_status",
)


def parse(content: bytes, *, file: str) -> Claim:
    """Turn the file's bytes into a claim, or say exactly what is wrong with which field."""
    values = _json_object(content, file)
    version = values.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise ClaimTooNew(
            f"{file}: schema_version is {version}; this agent-sync knows {SCHEMA_VERSION}. The file was left as it is.",
            helps="upgrade agent-sync-github",
        )
    try:
        return Claim.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(_problem(detail) for detail in error.errors())
        raise BadClaim(
            f"{file}: {problems}. The file was left as it is and nothing was done on GitHub.",
            helps="correct the file, then run `agent-sync status`",
        ) from error


def _json_object(content: bytes, file: str) -> dict[str, Any]:
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadClaim(
            f"{file} is not valid JSON ({reason}). The file was left as it is and nothing was done on GitHub.",
            helps="correct the file, then run `agent-sync status`",
        ) from error
    if not isinstance(values, dict):
        raise BadClaim(f"{file} holds a {type(values).__name__}, not an object. The file was left as it is.")
    return values


def _problem(detail: Any) -> str:
    field = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "missing":
        return f"{field} is missing"
    shown = json.dumps(detail["input"], default=str)[:60]
    if field == "phase":
        return f"phase is {shown}; allowed: {', '.join(Phase)}"
    if field == "schema_version":
        return f"schema_version is {shown}; allowed: {SCHEMA_VERSION}"
    return f"{field} is {shown}: {detail['msg'][0].lower()}{detail['msg'][1:]}"
