"""Hashes that a result rests on: computed here, recomputed whenever somebody looks, never taken on trust."""

import hashlib
import json
from datetime import datetime
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.work.hook.model import Evidence, HookTask, JsonObject, WorkHook


@dataclass(frozen=True)
class Standpoint:
    """Where the work stands when a result is given: commit, tree and pull request."""

    commit: str = ""
    tree: str = ""
    pull: int | None = None


def json_text(value: Any) -> bytes:
    """Return the one text of a JSON value: sorted keys, no spaces, UTF-8; ValueError for what JSON cannot carry."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode()


def json_hash(value: JsonObject) -> str:
    """Return the SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(json_text(value)).hexdigest()


def task_hash(task: HookTask) -> str:
    """Return the hash by which a context names its task."""
    return json_hash(task.values())


def evidence_of(task: HookTask, output: JsonObject | None, now: datetime, at: Standpoint) -> Evidence:
    """Return the evidence for an output of a task, bound to where the work stands."""
    return Evidence(
        input_hash=json_hash(task.input),
        output_hash=json_hash(output or {}),
        timestamp=now,
        commit=at.commit,
        tree=at.tree,
        pull_request=at.pull,
    )


def disagreements(hook: WorkHook) -> tuple[str, ...]:
    """Return every hash, and every word said twice, that does not fit."""
    return tuple(_about_context(hook) + _about_result(hook))


def _about_context(hook: WorkHook) -> list[str]:
    task, context = hook.task, hook.context
    if task is None or context is None:
        return []
    found = []
    if context.task_id != task.id:
        found.append(f"context.json is about {context.task_id}, task.json about {task.id}")
    if context.task_hash != task_hash(task):
        found.append("context.json names another task.json: the hash does not match")
    return found


def _about_result(hook: WorkHook) -> list[str]:
    task, result = hook.task, hook.result
    if task is None or result is None:
        return []
    found = []
    if result.task_id != task.id:
        found.append(f"result.json is about {result.task_id}, task.json about {task.id}")
    if result.status.value != hook.state.value:
        found.append(f"result.json says {result.status}, status.json {hook.state}")
    if result.evidence.input_hash != json_hash(task.input):
        found.append("the input hash does not match the input")
    if result.evidence.output_hash != json_hash(result.output or {}):
        found.append("the output hash does not match the output")
    return found
