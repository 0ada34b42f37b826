"""The files that are made from hook.json: HOOK.md, task.json and a copy of every receipt."""

import json
import re
from pathlib import Path

from agent_sync.errors import BadInput
from agent_sync.record.disk.generations import LARGEST
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.states import TERMINAL
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.system import files

VIEW = "HOOK.md"
TASK = "task.json"
ARTIFACTS = "artifacts"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def write_derived(directory: Path, record: Record, text: str) -> bool:
    """Bring HOOK.md and task.json up to date and tell whether one was not; what is right is not touched."""
    is_new_view = _write_new(directory / VIEW, text.encode("utf-8", "backslashreplace"))
    is_new_task = _write_new(directory / TASK, task_json(record))
    return is_new_view or is_new_task


def task_json(record: Record) -> bytes:
    """Return what a task is and how it ended, as task.json holds it."""
    is_over = record.state in TERMINAL
    values = {
        "task_id": record.task_id,
        "workspace": record.workspace,
        "task_index": record.task_index,
        "description": record.description,
        "template": record.template,
        "steps": [{"name": step.name, "idempotent": step.idempotent} for step in record.steps],
        "issue_number": record.issue_number,
        "branch": record.branch,
        "worktree": record.worktree,
        "created_at": record.created_at.isoformat(),
        "outcome": record.state if is_over else None,
        "finished_at": record.updated_at.isoformat() if is_over else None,
    }
    return json.dumps(values, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def write_receipts(directory: Path, before: Record | None, after: Record) -> None:
    """Keep each new receipt in a file of its own, because hook.json keeps the newest only."""
    known = {receipt.receipt_id for receipt in before.receipts} if before else set()
    files.make_directory(directory / ARTIFACTS, mode=0o700)
    for receipt in after.receipts:
        if receipt.receipt_id not in known:
            _write_new(receipt_file(directory, receipt), receipt.model_dump_json(indent=2).encode() + b"\n")


def receipt_file(directory: Path, receipt: Receipt) -> Path:
    """Return where the copy of a receipt lies."""
    if not _NAME.fullmatch(receipt.receipt_id):
        raise BadInput(f"{receipt.receipt_id!r} cannot be the id of a receipt.", helps="agent-sync record status")
    return directory / ARTIFACTS / f"{receipt.receipt_id}.json"


def _write_new(file: Path, content: bytes) -> bool:
    if file.is_file() and not file.is_symlink() and files.read_own(file, largest=LARGEST) == content:
        return False
    files.write_atomic(file, content)
    return True
