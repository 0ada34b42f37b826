"""A work hook as a tree of files, and back; what cannot be read is damage with a reason, never an empty hook."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from agent_sync.errors import BadHook, BadInput, HookTooNew
from agent_sync.leases.model import LARGEST
from agent_sync.leases.refs.values import TooLarge
from agent_sync.system import files as plain_files
from agent_sync.task.claim.model import LARGEST_NUMBER
from agent_sync.task.decision.outside_text import quoted
from agent_sync.work.hook.evidence import json_hash, json_text
from agent_sync.work.hook.model import (
    SCHEMA_VERSION,
    Attempt,
    Handoff,
    HookContext,
    HookResult,
    HookStatus,
    HookTask,
    Shape,
    WorkHook,
)
from agent_sync.work.hook.states import TERMINAL, WorkState

TASK, CONTEXT, STATUS, RESULT = "task.json", "context.json", "status.json", "result.json"
HANDOFF, ATTEMPTS = "handoff.json", "attempts.json"
INPUT_HASH, OUTPUT_HASH = "evidence/input-hash.txt", "evidence/output-hash.txt"

# The files of one commit; one that is too large was not read.
Files = dict[str, bytes | TooLarge]
_Read = TypeVar("_Read", bound=Shape)
_ATTEMPTS = TypeAdapter(tuple[Attempt, ...])


def files_of(hook: WorkHook) -> dict[str, bytes]:
    """Return the files of a hook, by path."""
    said: dict[str, Shape | None] = {
        STATUS: hook.status,
        TASK: hook.task,
        CONTEXT: hook.context,
        RESULT: hook.result,
        HANDOFF: hook.handoff,
    }
    found = {name: _line(value.values()) for name, value in said.items() if value is not None}
    found[ATTEMPTS] = _line([attempt.values() for attempt in hook.attempts])
    if hook.task:
        found[INPUT_HASH] = json_hash(hook.task.input).encode() + b"\n"
    if hook.result:
        found[OUTPUT_HASH] = hook.result.evidence.output_hash.encode() + b"\n"
    return found


def readable_files(hook: WorkHook) -> dict[str, bytes]:
    """Return the files of a hook that others can read; stop before any is written that they could not."""
    try:
        found = files_of(hook)
        large = [path for path, content in found.items() if len(content) > plain_files.LARGEST]
        hook_of(found | {path: TooLarge(len(found[path])) for path in large}, name="this worker")
    except (BadHook, ValueError, RecursionError) as error:
        reason = error.happened if isinstance(error, BadHook) else str(error)
        raise BadInput(f"What should hang on the hook could not be read again: {reason}", helps="say less") from error
    return found


def hook_of(files: Mapping[str, bytes | TooLarge], *, name: str) -> WorkHook:
    """Turn the files of a hook into a value, or say which of them is damaged."""
    read = _of_fair_size(files, name)
    status = _status(read, name)
    hook = WorkHook(
        status,
        task=_read(HookTask, TASK, read, name),
        context=_read(HookContext, CONTEXT, read, name),
        result=_read(HookResult, RESULT, read, name),
        handoff=_read(Handoff, HANDOFF, read, name),
        attempts=_attempts(read, name),
    )
    _refuse_holes(hook, name)
    _refuse_unwritable(hook, name)
    return hook


def stray_hashes(files: Mapping[str, bytes | TooLarge], hook: WorkHook) -> tuple[str, ...]:
    """Say of each evidence file that it is not what the hook's own values make it."""
    wanted = files_of(hook)
    wrong = (path for path in (INPUT_HASH, OUTPUT_HASH) if files.get(path) != wanted.get(path))
    return tuple(f"{path} does not say what is there" for path in wrong)


def _line(value: Any) -> bytes:
    return json_text(value) + b"\n"


def _of_fair_size(files: Mapping[str, bytes | TooLarge], name: str) -> dict[str, bytes]:
    """Return the files, all of which could be read; the status alone is a few lines however large the work is."""
    found = {path: content for path, content in files.items() if isinstance(content, bytes)}
    large = [path for path in files if path not in found or (path == STATUS and len(found[path]) > LARGEST)]
    if large:
        raise BadHook(f"{large[0]} on the hook of {name} is too large to be read.", helps="agent-sync worker repair")
    return found


def _refuse_unwritable(hook: WorkHook, name: str) -> None:
    """Stop a value that strict JSON cannot carry: whatever is read is hashed, shown and written again."""
    try:
        files_of(hook)
    except (ValueError, RecursionError) as error:
        message = f"The hook of {name} holds a value that cannot be written again."
        raise BadHook(message, helps="agent-sync worker repair") from error


def _status(files: Mapping[str, bytes], name: str) -> HookStatus:
    if STATUS not in files:
        raise BadHook(f"The hook of {name} has no {STATUS}.", helps="agent-sync worker repair")
    _refuse_newer(files[STATUS], name)
    status = _read(HookStatus, STATUS, files, name)
    assert status is not None  # noqa: S101  # it is there, as asked above
    return status


def _refuse_newer(content: bytes, name: str) -> None:
    try:
        version = json.loads(content)["schemaVersion"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    if isinstance(version, int) and SCHEMA_VERSION < version <= LARGEST_NUMBER:
        message = f"The hook of {name} has schemaVersion {version}; this agent-sync knows {SCHEMA_VERSION}."
        raise HookTooNew(message, helps="upgrade agent-sync-github")


def _read(shape: type[_Read], path: str, files: Mapping[str, bytes], name: str) -> _Read | None:
    if path not in files:
        return None
    try:
        return shape.model_validate_json(files[path])
    except ValidationError as error:
        raise _damage(error, path, name) from error


def _attempts(files: Mapping[str, bytes], name: str) -> tuple[Attempt, ...]:
    try:
        return _ATTEMPTS.validate_json(files.get(ATTEMPTS, b"[]"))
    except ValidationError as error:
        raise _damage(error, ATTEMPTS, name) from error


def _damage(error: ValidationError, path: str, name: str) -> BadHook:
    problem = error.errors()[0]
    # A field that nobody knows has whatever name it was given.
    field = quoted(".".join(str(part) for part in problem["loc"])) + ": " if problem["loc"] else ""
    message = f"{path} on the hook of {name} cannot be read: {field}{problem['msg']}."
    return BadHook(message, helps="agent-sync worker repair")


def _refuse_holes(hook: WorkHook, name: str) -> None:
    missing = []
    if hook.state is not WorkState.EMPTY:
        missing += [path for path, value in ((TASK, hook.task), (CONTEXT, hook.context)) if value is None]
        missing += ["issue"] if hook.status.issue is None else []
    if hook.state in TERMINAL - {WorkState.CANCELLED} and hook.result is None:
        missing.append(RESULT)
    if hook.state is WorkState.HANDED_OFF and hook.handoff is None:
        missing.append(HANDOFF)
    if missing:
        message = f"The hook of {name} is {hook.state} and lacks {', '.join(missing)}."
        raise BadHook(message, helps="agent-sync worker repair")
