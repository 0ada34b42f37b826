"""Recovery records for tests: brought to every state by the machine's own moves."""

from datetime import UTC, datetime, timedelta
from typing import Any

from agent_sync.record.machine.machine import with_first_event, with_move
from agent_sync.record.machine.model import Checkpoint, Record
from agent_sync.record.machine.states import CheckpointCause, RecordMove, RecordState
from agent_sync.record.machine.templates import steps_of
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.settings import Settings

NOW = datetime(2026, 1, 17, 14, 30, 22, tzinfo=UTC)
TREE = "7" * 40

# Everything that Markdown, a table or a terminal obeys.
NASTY = (
    "# Heading\n\n## What To Do Now\n\n- item\n1. item\n| a | b |\n|---|---|\n```\n~~~\n</code><script>x</script>"
    "[link](https://x.invalid) ![i](x) @octo https://x.invalid `tick` ``two`` \\| \\` **bold** <!-- \x1b[31m\u202e\u2028> quote"
)

RUNNING = (RecordMove.SETUP_COMPLETE, RecordMove.START_STEP)
WAYS: dict[RecordState, tuple[RecordMove, ...]] = {
    RecordState.INITIALIZING: (),
    RecordState.STEP_PENDING: (RecordMove.SETUP_COMPLETE,),
    RecordState.STEP_RUNNING: RUNNING,
    RecordState.STEP_VALIDATING: (*RUNNING, RecordMove.STEP_OUTPUT),
    RecordState.AWAITING_HUMAN: (*RUNNING, RecordMove.STEP_OUTPUT, RecordMove.VALIDATE_FAIL),
    RecordState.RECOVERING: (*RUNNING, RecordMove.CRASH_DETECTED),
    RecordState.FAILED: (RecordMove.SETUP_FAILED,),
    RecordState.ABANDONED: (*RUNNING, RecordMove.ABANDON),
}


def fresh_record(template: str = "bugfix", **fields: Any) -> Record:
    """Return a record that has just been begun."""
    record = Record(
        task_id="fix-null-pointer",
        workspace="demo-1a2b3c",
        task_index=0,
        description="fix null pointer in config",
        template=template,
        created_at=NOW,
        updated_at=NOW,
        state=RecordState.INITIALIZING,
        steps=steps_of(template, Settings()),
        worktree="/src/demo",
    )
    return with_first_event(record.model_copy(update=fields), NOW)


def after(record: Record, *moves: RecordMove) -> Record:
    """Return the record after `moves`."""
    for move in moves:
        record = with_move(record, move, NOW)
    return record


def at_step(name: str, template: str = "bugfix") -> Record:
    """Return a record whose step `name` is running."""
    record = after(fresh_record(template), *RUNNING)
    while record.current_step and record.current_step.step_name != name:
        record = after(record, RecordMove.STEP_COMPLETE, RecordMove.START_STEP)
    return record


def with_checkpoint(record: Record, **fields: Any) -> Record:
    """Return the record with one more checkpoint, of its present step unless told otherwise."""
    step = record.current_step
    values: dict[str, Any] = {
        "checkpoint_id": f"ckpt-{len(record.checkpoints):08x}",
        "created_at": NOW,
        "step_name": step.step_name if step else "",
        "step_index": step.step_index if step else 0,
        "attempt": step.attempt if step else 0,
        "description": "Initial commit",
        "trigger": CheckpointCause.COMMIT,
    }
    point = Checkpoint(**values | fields)
    noted = with_move(record, RecordMove.CHECKPOINT, NOW, checkpoint=point.model_dump(mode="json"))
    return noted.model_copy(update={"checkpoints": (*record.checkpoints, point)})


def with_receipt(record: Record, **fields: Any) -> Record:
    """Return the record with one more receipt, of its present step unless told otherwise."""
    noted = with_move(record, RecordMove.RECEIPT, NOW)
    made = receipt(record, **fields)
    return noted.model_copy(update={"receipts": (*record.receipts, made), "receipts_total": len(record.receipts) + 1})


def receipt(record: Record, **fields: Any) -> Receipt:
    """Return a receipt, whether it says anything true or not."""
    step, index = record.current_step, len(record.receipts)
    values: dict[str, Any] = {
        "receipt_id": f"rcpt-{index + 1:03}",
        "step_name": step.step_name if step else "",
        "command": "make lint",
        "exit_code": 0,
        "started_at": "2026-01-17T14:30:10Z",
        "completed_at": "2026-01-17T14:30:22Z",
        "duration": "12.3s",
        "duration_ms": 12300,
        "stdout_hash": "a1b2c3d4" * 8,
        "stderr_hash": "e5f60718" * 8,
        "argv": ("make", "lint"),
        "cwd": "/src/demo",
        "kind": "command",
        "label": "lint",
        "task_id": record.task_id,
        "attempt": 1,
        "git_commit": "6" * 40,
        "git_tree": TREE,
        "git_dirty": False,
        "history_head": "0" * 64,
        "task_index": 0,
        "receipt_index": index,
        "key_path": f"m/44'/236'/0'/0'/{index}'",
        "public_key": "0" * 64,
        "account_key": "0" * 64,
        "certificate": "0" * 128,
        "algorithm": "ed25519",
        "signature": "0" * 128,
    }
    return Receipt.model_validate(values | {"schema": "agent-sync/receipt/1"} | fields)


def rich_record(text: str | None = None) -> Record:
    """Return a record in which everything is filled in; with `text`, everything that comes from outside is that."""

    def foreign(usual: str) -> str:
        return usual if text is None else text

    record = fresh_record(description=foreign("fix null pointer in config"), branch=foreign("fix/null-pointer"))
    record = with_receipt(after(record, RecordMove.SETUP_COMPLETE, RecordMove.START_STEP), command=foreign("make lint"))
    record = with_receipt(
        after(record, RecordMove.STEP_COMPLETE, RecordMove.START_STEP), command=foreign("make plan | tee log")
    )
    record = after(record, RecordMove.STEP_COMPLETE, RecordMove.START_STEP)
    record = with_receipt(record, command=foreign("make test"), exit_code=2, step_name=foreign("implement"))
    record = with_receipt(record, command=foreign("make `all`"))
    record = with_checkpoint(record, description=foreign("Commit: Add nil check for config.Server field"))
    record = with_checkpoint(record, description=foreign("PR #45: Fix it"), trigger=CheckpointCause.PULL)
    assert record.current_step is not None
    step = record.current_step.model_copy(
        update={
            "attempt": 2,
            "working_on": foreign("Fixing nil pointer dereference in config/parser.go"),
            "prompt": foreign("Please fix the crash"),
            "files_touched": (foreign("config/parser.go"), foreign("config/parser_test.go")),
            "last_output": foreign("I've added the nil check.\n```go\nif config.Server == nil {\n```\nNext: Database."),
            "last_output_length": 100_000,
        }
    )
    done = [
        one.model_copy(update={"receipt_id": number, "completed_at": NOW + timedelta(seconds=45)})
        for one, number in zip(record.steps, ("rcpt-001", "rcpt-002"), strict=False)
    ]
    steps = (*done, *record.steps[2:])
    return record.model_copy(update={"current_step": step, "steps": steps, "issue_number": 42, "digest": "d" * 64})
