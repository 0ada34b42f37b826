"""Task directories on disk, with everything in them that belongs to a record."""

from pathlib import Path

from agent_sync.errors import BadRecord
from agent_sync.record.machine.model import Record

# In every task's directory; what else lies there is not ours.
OURS = (
    "hook.json",
    "hook.json.prev",
    "hook.json.damaged-20260117T143022Z",
    "hook.json.99.tmp",
    "HOOK.md",
    "HOOK.md.99.tmp",
    "hook-history-0000.jsonl",
    "hook-history-0001.jsonl",
    "task.json",
    "task.log",
    "artifacts/rcpt-001.json",
    "artifacts/deep/rcpt-001.stdout",
)


def lay_down(workspace: Path, record: Record) -> Path:
    """Write a record with all that belongs to it; return its directory."""
    directory = workspace / "tasks" / record.task_id
    for name in OURS:
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name, encoding="utf-8")
    (directory / "hook.json").write_text(record.model_dump_json(), encoding="utf-8")
    (directory / "hook.lock").touch()
    return directory


def read(directory: Path) -> Record | None:
    """Return the record in `directory`, as the store does."""
    try:
        return Record.model_validate_json((directory / "hook.json").read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise BadRecord("damaged") from error


def left_in(directory: Path) -> set[str]:
    """Return the names of the files that are there."""
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if not path.is_dir()}
