"""The receipt of one validation."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Receipt(BaseModel):
    """Proof that a command ran, with which result, and on which tree; times are texts, as they are signed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    receipt_id: str
    step_name: str
    command: str
    exit_code: int
    started_at: str
    completed_at: str
    duration: str
    duration_ms: int
    stdout_hash: str
    stderr_hash: str
    argv: tuple[str, ...]
    cwd: str
    kind: Literal["gate", "command"]
    label: str
    task_id: str
    attempt: int
    git_commit: str
    git_tree: str
    git_dirty: bool
    history_head: str
    task_index: int
    receipt_index: int
    key_path: str
    public_key: str
    account_key: str
    certificate: str
    algorithm: Literal["ed25519"]
    receipt_schema: str
    signature: str = ""
