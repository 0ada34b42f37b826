"""The receipt as it is stored: every field is signed but the signature itself."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_sync.errors import BadReceipt
from agent_sync.record.receipts.canonical import LARGEST, canonical
from agent_sync.record.receipts.evidence import Kind

SCHEMA = "agent-sync/receipt/1"
ALGORITHM = "ed25519"
# What has a canonical form, so that it can be signed.
Number = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]


class Receipt(BaseModel):
    """Proof that a command ran and how it ended.

    Types are checked here and meaning in `signing.verify`: a receipt that someone changed can still be read, and shown
    as what it is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, serialize_by_alias=True)

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
    kind: Kind
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
    # The plain name belongs to pydantic.
    schema_name: str = Field(alias="schema")
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
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in error.errors())
        raise BadReceipt(f"This is not a valid receipt ({problems}).") from error
