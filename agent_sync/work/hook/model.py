"""The files of a work hook: task, context, status, result, handoff and attempts, each read strictly."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from pydantic.alias_generators import to_camel

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.work.hook.limits import BranchName, Count, Moment, Name, Number
from agent_sync.work.hook.states import WorkState

SCHEMA_VERSION: Literal[1] = 1
MOST_TOOLS = 5
FEWEST_TOOLS = 3
MOST_ATTEMPTS = 3

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
CommitSha = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")]
Word = Annotated[str, Field(min_length=1, max_length=200)]
# As long as any system lets a path be.
PathText = Annotated[str, Field(max_length=4096)]
# Names of tasks are said to agents and people as they are, so they can be nothing but names.
TaskId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")]
JsonObject = dict[str, JsonValue]


class Shape(BaseModel):
    """A value that is read strictly, knows all its fields, and never changes; JSON has its names in camelCase."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=True, allow_inf_nan=False
    )

    def values(self) -> dict[str, Any]:
        """Return what is written: JSON values, without what was not said."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


class HookTask(Shape):
    """The work that was assigned."""

    id: TaskId
    type: Word
    input: JsonObject
    assigned: Moment
    timeout: Moment | None = None
    convoy_id: TaskId | None = None
    blocked_by: tuple[TaskId, ...] = ()
    discovered_from: TaskId | None = None


class HookError(Shape):
    """Why a task failed, and whether trying again may help."""

    code: Word
    message: Annotated[str, Field(max_length=2000)]
    recoverable: bool


class AttemptEnding(StrEnum):
    """How an attempt ended."""

    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    ABANDONED = "abandoned"


class Attempt(Shape):
    """One try at a task."""

    task_id: TaskId
    number: Number
    started: Moment
    ended: Moment | None = None
    outcome: Annotated[AttemptEnding, Field(strict=False)] = AttemptEnding.RUNNING
    error: HookError | None = None


class HookContext(Shape):
    """The least a worker must know for this one task; the task is named by id and hash, so that it cannot drift."""

    task_id: TaskId
    task_hash: Sha256
    figma_component: JsonObject | None = None
    expected_output: JsonObject | None = None
    previous_attempts: Annotated[tuple[Attempt, ...], Field(max_length=MOST_ATTEMPTS)] = ()
    tools: Annotated[tuple[Word, ...], Field(max_length=MOST_TOOLS)]


class Evidence(Shape):
    """Hashes of what came in and went out, and what they are bound to."""

    input_hash: Sha256
    output_hash: Sha256
    timestamp: Moment
    commit: CommitSha = ""
    tree: CommitSha = ""
    pull_request: Number | None = None


class DiscoveredTask(Shape):
    """Work that was found on the way."""

    title: Word
    body: Annotated[str, Field(max_length=20_000)] = ""
    type: Word | None = None


class ResultStatus(StrEnum):
    """What a result says of its task."""

    COMPLETE = "COMPLETE"
    FAILED = "FAILED"


class HookResult(Shape):
    """What came of a task."""

    task_id: TaskId
    status: Annotated[ResultStatus, Field(strict=False)]
    output: JsonObject | None = None
    error: HookError | None = None
    evidence: Evidence
    discovered_tasks: Annotated[tuple[DiscoveredTask, ...], Field(max_length=50)] = ()

    @model_validator(mode="after")
    def _error_goes_with_failure(self) -> "HookResult":
        if (self.status is ResultStatus.FAILED) != (self.error is not None):
            raise ValueError("a FAILED result has an error, a COMPLETE one has none")
        return self


class Handoff(Shape):
    """Where the next session continues; replaced by the next handoff, never piled up."""

    model_config = ConfigDict(alias_generator=None)

    reason: Word
    resume_point: Annotated[str, Field(max_length=4000)]
    summary: Annotated[str, Field(max_length=20_000)] = ""
    next_steps: Annotated[tuple[Annotated[str, Field(max_length=1000)], ...], Field(max_length=50)] = ()
    files: Annotated[tuple[PathText, ...], Field(max_length=200)] = ()
    branch: BranchName
    head_sha: CommitSha
    dirty: bool = False
    rescue_ref: Name = ""
    rescue_sha: CommitSha = ""
    at: Moment
    by: Name
    count: Number


class HookStatus(Shape):
    """The only authority on the state, and the holding of the claim that the work goes with."""

    schema_version: Literal[1] = SCHEMA_VERSION
    status: Annotated[WorkState, Field(strict=False)]
    since: Moment
    issue: Number | None = None
    by: Name = ""
    worktree: Name = ""
    branch: BranchName = ""
    epoch: Count = 0
    nonce: Name = ""
    reason: Annotated[str, Field(max_length=2000)] = ""

    def values(self) -> dict[str, Any]:
        """Return what is written, the version always with it."""
        return {"schemaVersion": self.schema_version} | super().values()


@dataclass(frozen=True)
class WorkHook:
    """Everything that hangs on one worker's hook."""

    status: HookStatus
    task: HookTask | None = None
    context: HookContext | None = None
    result: HookResult | None = None
    handoff: Handoff | None = None
    attempts: tuple[Attempt, ...] = ()

    @property
    def state(self) -> WorkState:
        """Where the work stands."""
        return self.status.status
