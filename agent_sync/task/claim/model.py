"""The claim: its documented fields, a few of ours, whatever else stands there, and the limits of what others write."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from agent_sync.errors import BadClaim, ClaimTooNew
from agent_sync.lazy_patterns import pattern
from agent_sync.plain.fields import AfterValidator, BeforeValidator, Field, Refused
from agent_sync.plain.model import Model
from agent_sync.task.claim.drift_seen import DriftSeen
from agent_sync.task.claim.phases import Phase, WithheldBy

# What a number of an issue or pull request, and whatever counts something, may be at most.
LARGEST_NUMBER = 2**31 - 1
LONGEST_TTL_S, LONGEST_NAME = 30 * 86_400.0, 300
# After so many commits with the same failure the agent is not woken for it again.
MOST_ROUNDS = 3
FIRST_YEAR, LAST_YEAR = 1970, 2199

Number = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
Count = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
SCHEMA_VERSION = 1
MOVE_AWAY = "mv .agent-claim.json .agent-claim.json.bad, then `agent-sync claim ISSUE` restores the claim"
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
_LEFT_BEFORE = pattern(r"the hook of (\S+) \(`agent-sync worker take` goes on with it\)")
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


def in_calendar(moment: datetime) -> datetime:
    """Return a moment in UTC; outside of these years sums of times would leave every calendar."""
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"the year must be between {FIRST_YEAR} and {LAST_YEAR}")
    return moment.astimezone(UTC)


def at_most_a_month(value: object) -> object:
    """Return a length of time that is no longer than any lease may last."""
    return min(value, LONGEST_TTL_S) if isinstance(value, int | float) else value


def writable(value: object) -> object:
    """Replace half characters, which JSON can carry and its strict readers refuse."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def cut_name(value: object) -> object:
    """Cut a name that is too long for people to read."""
    return value[:LONGEST_NAME] if isinstance(value, str) else value


def following(number: int) -> int:
    """Return the next number of a count that is for people to read, and so may stop at the largest."""
    return min(number + 1, LARGEST_NUMBER)


Ttl = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(at_most_a_month)]


def _moment_or_never(value: object) -> datetime | None:
    """Read a moment; one that cannot be read means "never", so that polling is never silently stuck."""
    if isinstance(value, datetime):
        return value
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    # Beyond these years a moment cannot be converted to other time zones or added to.
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _moment(value: object) -> object:
    """Read a moment that has to be there; one that cannot be read is left for the refusal to show."""
    return _moment_or_never(value) or value


Past = Annotated[datetime, BeforeValidator(_moment), AfterValidator(in_calendar)]
MomentOrNever = Annotated[datetime | None, BeforeValidator(_moment_or_never)]


class ChecksSeen(Model):
    """What the last look at the checks found, for the status line."""

    sha: str
    passed: Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
    total: Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
    state: str
    failed: Annotated[tuple[str, ...], Field(strict=False, description="The names of failed checks")] = ()
    missing: Annotated[tuple[str, ...], Field(strict=False, description="Required checks that did not report")] = ()
    approval_url: Annotated[str, Field(description="A workflow run that waits for approval")] = ""


class FeedbackSeen(Model):
    """What stood against a merge when the pull request was last looked at, apart from its checks."""

    changes_requested_by: Annotated[tuple[str, ...], Field(strict=False, description="Who wants changes")] = ()
    is_conflicting: Annotated[bool, Field(description="It conflicts with its base branch")] = False
    is_behind: Annotated[bool, Field(description="It must be updated with its base branch")] = False
    upstream: Annotated[str, Field(description="The base branch, as git calls it here")] = ""
    missing: Annotated[str, Field(description="What a merge lacks apart from checks")] = ""
    threads: Annotated[Count, Field(description="Review threads that wait for the agent")] = 0
    queue_position: Annotated[int | None, Field(description="Its place in the merge queue")] = None
    ejected: Annotated[str, Field(description="Why it was taken out of the merge queue")] = ""


class FailuresSeen(Model):
    """What is remembered of failing checks between looks: what was read, how often it came back, what was rerun."""

    sha: Annotated[str, Field(description="The commit they failed on")] = ""
    runs: Annotated[tuple[str, ...], Field(strict=False, description="The failed runs whose logs were read")] = ()
    fingerprint: Annotated[str, Field(description="Tells this failure from others")] = ""
    rounds: Annotated[Count, Field(description="On how many commits in a row it was the same")] = 0
    rerun_sha: Annotated[str, Field(description="The commit on which jobs were run again")] = ""
    held: Annotated[tuple[str, ...], Field(strict=False, description="Failed runs to rerun when all others end")] = ()

    @property
    def is_stuck(self) -> bool:
        """Whether pushing again is no use."""
        return self.rounds >= MOST_ROUNDS


class WithheldNote(Model):
    """Why the last attempt to open the pull request, or to close the issue, came to nothing."""

    by: Annotated[WithheldBy, Field(strict=False, description="What withholds it")]
    reason: Annotated[str, Field(description="Why, as a sentence")]


class LeaseNote(Model):
    """What this worktree must remember of the lease that makes the claim hold against others."""

    @staticmethod
    def as_now(values: Any) -> Any:
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
    renewed_at: Annotated[
        datetime, BeforeValidator(_moment), AfterValidator(in_calendar), Field(description="Last sign of life")
    ]
    ttl_s: Annotated[Ttl, Field(description="How long it lasts without one")]
    mode: Annotated[Literal["auto", "manual"], Field(description="A manual lease never expires")] = "manual"
    lost_to: Annotated[str, Field(description="Who holds the issue now, once the lease is lost")] = ""
    left_on: Annotated[str, Field(description="The worker on whose hook the work was left")] = ""


class Claim(Model, is_strict=True):
    """One task held by one agent, from claim to close."""

    schema_version: Annotated[Literal[1], Field(description="Always 1")]
    item_id: Annotated[Text, Field(description="The task's item on the board; a hint only")] = ""
    issue_number: Annotated[int, Field(ge=1, le=LARGEST_NUMBER, description="The issue to close in the end")]
    branch: Annotated[Text, Field(description="The branch the pull request is opened from")] = ""
    agent_id: Annotated[Text, Field(description="What the board's Agent field says")] = ""
    phase: Annotated[Phase, Field(strict=False, description="Where the task stands")]
    summary: Annotated[Text, Field(description="Title of the pull request")] = ""
    status: Annotated[Text, Field(description="What the board's Status field should say")] = ""
    pr_number: Annotated[int | None, Field(ge=1, le=LARGEST_NUMBER, description="The pull request")] = None
    last_check_poll: Annotated[MomentOrNever, Field(description="Last look at the checks")] = None
    last_synced_status: Annotated[str | None, Field(description="What the board's Status field was set to")] = None

    # Ours, written only when they say something.
    closed_unmerged: Annotated[bool, Field(description="The pull request was closed without merging")] = False
    close_unmerged: Annotated[
        bool, Field(description="A human said `done --unmerged`; counts only as that command has recorded it")
    ] = False
    draft: Annotated[bool, Field(description="Open the pull request as a draft")] = False
    open_anyway: Annotated[
        bool, Field(description="Open the pull request though the issue is closed or somebody else's")
    ] = False
    not_before: Annotated[MomentOrNever, Field(description="GitHub asked not to be called before")] = None
    own_status: Annotated[str, Field(description="A status of another name than usual that the settings gave")] = ""
    refused_status: Annotated[str | None, Field(description="A status the board did not take")] = None
    refused_at: Annotated[MomentOrNever, Field(description="When it did not; it is tried again after a while")] = None
    is_unmirrored: Annotated[bool, Field(description="The claim was not told to GitHub yet")] = False
    checks: Annotated[ChecksSeen | None, Field(strict=False)] = None
    feedback: Annotated[FeedbackSeen | None, Field(strict=False, description="What stands against a merge")] = None
    failures: Annotated[FailuresSeen | None, Field(strict=False, description="Failing checks, as last seen")] = None
    drift: Annotated[DriftSeen | None, Field(strict=False, description="What others changed on GitHub")] = None
    withheld: Annotated[WithheldNote | None, Field(strict=False, description="Why not opened, or not closed")] = None
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

    @property
    def is_pull_open(self) -> bool:
        """Whether its pull request is open, as far as it knows, and its branch is named."""
        return bool(self.branch) and self.phase in {Phase.PR_CREATED, Phase.CHECKS_RUNNING}

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
    except RecursionError as error:
        message = f"{file} is nested too deeply. The file was left as it is and nothing was done on GitHub."
        raise BadClaim(message, helps=MOVE_AWAY) from error
    except Refused as error:
        problems = "; ".join(_problem(detail) for detail in error.details)
        raise BadClaim(
            f"{file}: {problems}. The file was left as it is and nothing was done on GitHub.",
            helps=MOVE_AWAY,
        ) from error


def _json_object(content: bytes, file: str) -> dict[str, Any]:
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadClaim(
            f"{file} is not valid JSON ({reason}). The file was left as it is and nothing was done on GitHub.",
            helps=MOVE_AWAY,
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
