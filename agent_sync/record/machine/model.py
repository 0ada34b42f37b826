"""The record as it is written to hook.json: every value frozen, every moment in UTC."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agent_sync.record.machine.states import Advice, CrashType, Move, State, StepStatus, Trigger
from agent_sync.record.receipts.canonical import LARGEST, canonical
from agent_sync.record.receipts.receipt import Receipt

VERSION: Literal["1.0"] = "1.0"

FIRST_YEAR, LAST_YEAR = 1970, 2199


def _reckonable(moment: datetime) -> datetime:
    """Refuse what cannot be told in other time zones, or reckoned with."""
    if moment.tzinfo is None or not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"no moment in the years {FIRST_YEAR} to {LAST_YEAR}, with its time zone")
    return moment


def _hashable(details: dict[str, Any]) -> dict[str, Any]:
    """Refuse what has no canonical form, because the history's hashes could not vouch for it."""
    canonical(details)
    return details


Index = Annotated[int, Field(ge=0, le=LARGEST)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Ascii = Annotated[str, Field(pattern=r"^[ -~]*$")]
Moment = Annotated[datetime, AfterValidator(_reckonable)]
Details = Annotated[dict[str, Any], AfterValidator(_hashable)]


class Value(BaseModel):
    """A part of the record; unknown fields are errors, because the digest could not vouch for them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Step(Value):
    """One step of the template and how far it has come."""

    name: str
    idempotent: bool = False
    status: StepStatus = StepStatus.PENDING
    attempts: Index = 0
    started_at: Moment | None = None
    completed_at: Moment | None = None
    receipt_id: str = ""


class StepContext(Value):
    """What is going on in the present step, so that a reader without any memory can go on."""

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
    # The commit the step began at: what was touched is told from there.
    base_commit: str = ""


class FileSnapshot(Value):
    """How one file lay on disk."""

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
    trigger: Trigger
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
    from_state: State | None = None
    to_state: State
    trigger: Move
    step_name: str = ""
    details: Details = {}
    prev: Hash
    hash: Hash


class Recovery(Value):
    """What was found out after a crash, and what to do about it."""

    detected_at: Moment
    crash_type: CrashType
    last_known_state: State
    was_validating: bool
    validation_cmd: str = ""
    partial_output: str = ""
    recommended_action: Advice
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


class Seen(Value):
    """How far one reflog has been read."""

    offset: Index = 0
    last: str = ""


class Archive(Value):
    """The events that were moved out of hook.json into segments: how many, and the hash of the last."""

    events: Index = 0
    head: str = ""


class ClaimNote(Value):
    """What the record was last told of its claim, of its branch's commits that the PR lacks, and of a lease gone."""

    claim: Details
    is_ahead: bool = False
    lost_to: str = ""
    left_on: str = ""


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
    state: State
    steps: tuple[Step, ...]
    current_step: StepContext | None = None
    # Why a human is waited for; empty where none is.
    waiting_for: str = ""
    issue_number: Annotated[int, Field(ge=1, le=LARGEST)] | None = None
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
    reflogs: dict[Ascii, Seen] = {}
    resumed_from: str = ""
    # Added after 1.0 was first written: it is left out of the digest where it is not set.
    claim: ClaimNote | None = None
    # Over everything above: tells whether anything else than agent-sync has changed the file.
    digest: str = ""
