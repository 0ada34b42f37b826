"""The record as it is written to hook.json: every value frozen, every moment in UTC."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from agent_sync.plain.fields import AfterValidator, AwareDatetime, Field
from agent_sync.plain.model import Model
from agent_sync.record.machine.states import (
    CheckpointCause,
    CrashType,
    RecordMove,
    RecordState,
    RecoveryAdvice,
    StepStatus,
)
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.system.json_reading import LARGEST_INTEGER, must_be_canonical

VERSION: Literal["1.0"] = "1.0"

# Sums of times stay within the calendar.
_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)

Index = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Ascii = Annotated[str, Field(pattern=r"^[ -~]*$")]
Moment = Annotated[AwareDatetime, Field(ge=_EARLIEST, lt=_LATEST)]
# The hashes of the history can vouch only for what has a canonical form.
Details = Annotated[dict[str, Any], AfterValidator(must_be_canonical)]


class Value(Model, keeps_unknown=False, is_strict=True):
    """A part of the record; unknown fields are errors, because the digest could not vouch for them."""


class TaskStep(Value):
    """One step of the template and how far it has come."""

    name: str
    idempotent: bool = False
    status: StepStatus = StepStatus.PENDING
    attempts: Index = 0
    started_at: Moment | None = None
    completed_at: Moment | None = None
    receipt_id: str = ""


class StepContext(Value):
    """What is under way in the present step, so that a reader without any memory can continue."""

    step_name: str
    step_index: Index
    started_at: Moment | None = None
    prompt: str = ""
    attempt: Index = 1
    # 0 means: as often as it takes.
    max_attempts: Index = 3
    working_on: str = ""
    files_touched: tuple[str, ...] = ()
    last_output: str = ""
    # How long the last output was before it was cut to its tail.
    last_output_length: Index = 0
    current_checkpoint_id: str = ""
    # The commit the step began at: files touched are counted from there.
    base_commit: str = ""


class FileSnapshot(Value):
    """How one file was on disk."""

    path: str
    size: Index = 0
    mod_time: str = ""
    sha256: str = ""
    exists: bool = True


class Checkpoint(Value):
    """Progress within a step."""

    checkpoint_id: str
    created_at: Moment
    step_name: str = ""
    step_index: Index = 0
    attempt: Index = 0
    description: str
    trigger: CheckpointCause
    git_branch: str = ""
    git_commit: str = ""
    git_dirty: bool = False
    artifacts: tuple[str, ...] = ()
    files_snapshot: tuple[FileSnapshot, ...] = ()
    # What makes an automatic checkpoint the same as one that is there already.
    key: str = ""


class Event(Value):
    """One entry of the history, chained to the one before."""

    seq: Index
    timestamp: Moment
    from_state: RecordState | None = None
    to_state: RecordState
    trigger: RecordMove
    step_name: str = ""
    details: Details = {}  # noqa: RUF012  # each value gets its own
    prev: Hash
    hash: Hash


class Recovery(Value):
    """What was found out after a crash, and what to do about it."""

    detected_at: Moment
    crash_type: CrashType
    last_known_state: RecordState
    was_validating: bool
    validation_cmd: str = ""
    partial_output: str = ""
    recommended_action: RecoveryAdvice
    reason: str
    last_checkpoint_id: str = ""
    # What GitHub said when it was asked: empty where nothing speaks against going on.
    outside: str = ""


class Owner(Value):
    """The process on whose behalf the work is done; while it lives, nothing is stale."""

    pid: Index = 0
    started: str = ""
    boot_id: str = ""
    host: str = ""
    session_id: str = ""
    # Its session ended in the ordinary way: that it is gone is no crash.
    has_left: bool = False


class Prompt(Value):
    """What a human asked for, in which session, and how many events the history had then."""

    text: str
    session_id: str = ""
    seq: Index = 0


class ReflogPosition(Value):
    """How far one reflog has been read."""

    offset: Index = 0
    last: str = ""


class Archive(Value):
    """The events that were moved out of hook.json into segments: how many, and the hash of the last."""

    events: Index = 0
    head: str = ""


class ClaimNote(Value):
    """What the record knows of its claim, of commits that the PR lacks, and of a lease that is gone."""

    claim: Details
    is_ahead: bool = False
    lost_to: str = ""
    left_on: str = ""


class WorkNote(Value):
    """What a work hook says of its task: whose it is, its input, and where the last session has left it."""

    worker: str
    # As JSON.
    input: str = ""
    resume_point: str = ""
    summary: str = ""
    next_steps: tuple[str, ...] = ()
    rescue_ref: str = ""
    # What is typed to have back what was not committed; made by agent-sync, never read from a ref.
    restore: str = ""


class Record(Value):
    """The durable state of one task."""

    version: Literal["1.0"] = VERSION
    task_id: str
    workspace: str
    task_index: Index
    description: str
    template: str
    created_at: Moment
    updated_at: Moment
    state: RecordState
    steps: tuple[TaskStep, ...]
    current_step: StepContext | None = None
    # Why a human is waited for; empty where none is.
    waiting_for: str = ""
    issue_number: Annotated[int, Field(ge=1, le=LARGEST_INTEGER)] | None = None
    branch: str = ""
    worktree: str
    owner: Owner = Owner()
    history: tuple[Event, ...] = ()
    archive: Archive = Archive()
    recovery: Recovery | None = None
    recoveries_without_progress: Index = 0
    receipts: tuple[Receipt, ...] = ()
    receipts_total: Index = 0
    checkpoints: tuple[Checkpoint, ...] = ()
    checkpoints_total: Index = 0
    reflogs: dict[Ascii, ReflogPosition] = {}  # noqa: RUF012  # each value gets its own
    resumed_from: str = ""
    # Added after 1.0 was first written: these are left out of the digest where they are not set.
    claim: ClaimNote | None = None
    # What was asked for since the task last moved on, oldest first, whichever session it was.
    asked: tuple[Prompt, ...] = ()
    # Of the files the step has touched, those that are not committed.
    uncommitted: tuple[str, ...] = ()
    work: WorkNote | None = None
    # Over everything above: tells whether anything else than agent-sync has changed the file.
    digest: str = ""
