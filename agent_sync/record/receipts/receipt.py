"""The receipt as it is stored, and what it is made from: every field is signed but the signature itself."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from agent_sync.errors import BadReceipt
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.plain.fields import Field, Refused
from agent_sync.plain.model import Model
from agent_sync.system.json_reading import LARGEST_INTEGER, canonical

ReceiptKind = Literal["gate", "command"]
_MINUTE, _HOUR = 60, 3600


@dataclass(frozen=True)
class CommandRun:
    """A command that agent-sync has run itself: only `running` makes one."""

    command: str
    argv: tuple[str, ...]
    cwd: str
    exit_code: int
    started_at: datetime
    completed_at: datetime
    duration_ms: int
    stdout_hash: str
    stderr_hash: str


@dataclass(frozen=True)
class ReceiptSubject:
    """What was checked by the command: a step of a task, and the state of its files."""

    step_name: str
    attempt: int
    kind: ReceiptKind
    label: str
    git_commit: str
    git_tree: str
    git_dirty: bool
    history_head: str


@dataclass(frozen=True)
class ReceiptSlot:
    """The one place a receipt belongs to; both numbers count from zero."""

    task_id: str
    task_index: int
    receipt_index: int

    @property
    def receipt_id(self) -> str:
        """What people call the receipt."""
        return f"rcpt-{self.receipt_index + 1:03d}"


def moment_text(at: datetime) -> str:
    """Return a moment as a receipt spells it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def duration_text(milliseconds: int) -> str:
    """Return a duration as people read it: 12.3s, 1m5s, 2h0m9s."""
    if milliseconds < _MINUTE * 1000:
        # Tenths are cut, not rounded, so that no second is shown that has not passed.
        return f"{milliseconds // 1000}.{milliseconds % 1000 // 100}s"
    seconds = milliseconds // 1000
    hours, minutes = f"{seconds // _HOUR}h" if seconds >= _HOUR else "", seconds % _HOUR // _MINUTE
    return f"{hours}{minutes}m{seconds % _MINUTE}s"


SCHEMA = "agent-sync/receipt/1"
ALGORITHM = "ed25519"
# What has a canonical form, so that it can be signed.
Number = Annotated[int, Field(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)]


class Receipt(Model, keeps_unknown=False, is_strict=True):
    """Proof that a command ran and how it ended.

    Types are checked here and meaning in `signing.verify`: a receipt that someone changed can still be read, and shown
    as what it is.
    """

    receipt_id: str
    step_name: str
    command: str
    exit_code: Number
    started_at: str
    completed_at: str
    duration: str
    duration_ms: Number
    stdout_hash: str
    stderr_hash: str
    kind: ReceiptKind
    label: str
    argv: Annotated[tuple[str, ...], Field(strict=False)]
    cwd: str
    git_commit: str
    git_tree: str
    git_dirty: bool
    history_head: str
    task_id: str
    attempt: Number
    task_index: Number
    receipt_index: Number
    schema: str
    algorithm: str
    key_path: str
    public_key: str
    account_key: str
    certificate: str
    signature: str

    @property
    def has_passed(self) -> bool:
        """Whether the command ended well."""
        return self.exit_code == 0


def signed_bytes(receipt: Receipt) -> bytes:
    """Return what the signature is about."""
    return canonical(receipt.model_dump(exclude={"signature"}) | {"argv": list(receipt.argv)})


def certified_bytes(*, public_key: str, key_path: str, task_id: str) -> bytes:
    """Return what the account key says of a receipt's key."""
    return canonical({"public_key": public_key, "key_path": key_path, "task_id": task_id})


def from_values(values: object) -> Receipt:
    """Turn stored values into a receipt, or say which field is wrong."""
    try:
        return Receipt.model_validate(values)
    except Refused as error:
        problems = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in error.details)
        raise BadReceipt(f"This is not a valid receipt ({problems}).") from error
