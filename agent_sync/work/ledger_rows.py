"""The rows of the ledger, pure: tasks, convoys and evidence, derived from every commit of every hook."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from agent_sync.task.decision.tasks import Convoy
from agent_sync.work.hook import attempts
from agent_sync.work.hook.evidence import disagreements
from agent_sync.work.hook.model import HookTask, ResultStatus, WorkHook
from agent_sync.work.hook.names import WorkerName, issue_of
from agent_sync.work.hook.reading import changed_results
from agent_sync.work.hook.states import WorkState
from agent_sync.work.hook.view import HookCommit


class LedgerKind(StrEnum):
    """What a ledger lists."""

    TASKS = "tasks"
    CONVOYS = "convoys"
    EVIDENCE = "evidence"


LedgerRow = dict[str, Any]
_WORDS = {
    WorkState.EMPTY: "open",
    WorkState.PENDING: "open",
    WorkState.IN_PROGRESS: "in_progress",
    WorkState.HANDED_OFF: "in_progress",
    WorkState.BLOCKED: "blocked",
    WorkState.COMPLETE: "closed",
    WorkState.FAILED: "open",
    WorkState.CANCELLED: "closed",
}


def task_rows(history: Sequence[HookCommit]) -> list[LedgerRow]:
    """Return one row for every task that ever hung on a hook, with every event of its life."""
    by_task: dict[str, list[HookCommit]] = {}
    for entry, task in _with_tasks(history):
        by_task.setdefault(task, []).append(entry)
    return [_task_row(task, by_task[task]) for task in sorted(by_task, key=lambda task: (issue_of(task) or 0, task))]


def evidence_rows(history: Sequence[HookCommit]) -> list[LedgerRow]:
    """Return one row for every result that was ever put on a hook, checked anew."""
    given: dict[tuple[WorkerName, str, ResultStatus, datetime], list[HookCommit]] = {}
    for entry in history:
        result = entry.hook.result if entry.hook else None
        if result:
            key = (entry.worker, result.task_id, result.status, result.evidence.timestamp)
            given.setdefault(key, []).append(entry)
    return [_evidence_row(entries) for entries in given.values()]


def _evidence_row(entries: Sequence[HookCommit]) -> LedgerRow:
    """Return the row of one result as it was given first; whatever came of it later is checked as well."""
    first, wrong = entries[0], tampering_in(entries)
    result = first.hook.result if first.hook else None
    assert result is not None  # noqa: S101  # chosen so above
    said = {"taskId": result.task_id, "worker": str(first.worker), "status": result.status.value}
    output = result.output or {}
    merged = {name: output[name] for name in ("mergeCommit", "receipts") if output.get(name)}
    checked = {"verified": not wrong, "disagreements": list(wrong), "hookCommit": first.sha}
    return said | result.evidence.values() | merged | checked


def tampering_in(entries: Sequence[HookCommit]) -> tuple[str, ...]:
    """Say what does not fit in any of a task's commits, each once: hashes, stray files, results changed afterwards."""
    found = [text for entry in entries if entry.hook for text in (*disagreements(entry.hook), *entry.stray)]
    changed = (text for texts in changed_results(entries).values() for text in texts)
    return tuple(dict.fromkeys((*found, *changed)))


def convoy_rows(tasks: Sequence[LedgerRow], convoys: Sequence[Convoy]) -> list[LedgerRow]:
    """Return one row for every convoy: as GitHub knows it, or as far as its tasks tell."""
    known = {f"convoy-{convoy.number}": convoy for convoy in convoys}
    names = {str(row["convoy"]) for row in tasks if row.get("convoy")} | set(known)
    return [_convoy_row(name, known.get(name), tasks) for name in sorted(names)]


def cut_histories(history: Sequence[HookCommit]) -> list[HookCommit]:
    """Return for each hook whose history is longer than what was read the first commit that was."""
    first: dict[WorkerName, HookCommit] = {}
    for entry in history:
        first.setdefault(entry.worker, entry)
    return [entry for entry in first.values() if entry.parent]


def unreadable_commits(history: Sequence[HookCommit]) -> list[HookCommit]:
    """Return the commits that could not be read; they stay in the history and are told."""
    return [entry for entry in history if entry.hook is None]


def _with_tasks(history: Iterable[HookCommit]) -> Iterable[tuple[HookCommit, str]]:
    """Pair each commit with its task; clearing, and damage, belong to the task that hung there before."""
    last: dict[WorkerName, str] = {}
    for entry in history:
        task = entry.hook.task if entry.hook else None
        if task:
            last[entry.worker] = task.id
        if entry.worker in last:
            yield entry, last[entry.worker]


def _task_row(task: str, entries: list[HookCommit]) -> LedgerRow:
    entries = sorted(entries, key=lambda entry: entry.at)
    hooks = [entry.hook for entry in entries if entry.hook and entry.hook.task]
    newest = hooks[-1]
    described = newest.task
    assert described is not None  # noqa: S101  # chosen so above
    issue = newest.status.issue
    row: LedgerRow = {
        "id": task,
        "title": str(described.input.get("title") or task),
        "status": _WORDS[newest.state],
        "issue_type": described.type,
        "assignee": str(entries[-1].worker),
        "created_at": entries[0].at,
        "updated_at": entries[-1].at,
        "external_ref": f"gh-{issue}" if issue else "",
        "dependencies": _dependencies(described),
        "hook_status": newest.state.value,
        "convoy": described.convoy_id,
        "attempts": [one.values() for one in attempts.merged_attempts([hook.attempts for hook in hooks], task)],
        "handoffs": _handoffs(hooks),
        "events": [_event(entry) for entry in entries],
    }
    closed = {"closed_at": entries[-1].at} if row["status"] == "closed" else {}
    wrong = tampering_in(entries)
    return row | closed | ({"tampering": list(wrong)} if wrong else {})


def _dependencies(task: HookTask) -> list[LedgerRow]:
    kinds = [("blocks", name) for name in task.blocked_by]
    kinds += [("parent-child", task.convoy_id)] if task.convoy_id else []
    kinds += [("discovered-from", task.discovered_from)] if task.discovered_from else []
    return [{"issue_id": task.id, "depends_on_id": name, "type": kind} for kind, name in kinds]


def _handoffs(hooks: list[WorkHook]) -> list[LedgerRow]:
    found = {hook.handoff.at: hook.handoff.values() for hook in hooks if hook.handoff}
    return [found[at] for at in sorted(found)]


def _event(entry: HookCommit) -> LedgerRow:
    state = entry.hook.state.value if entry.hook else "UNREADABLE"
    said = entry.message.splitlines()[0] if entry.message else ""
    return {"at": entry.at, "event": said, "state": state, "worker": str(entry.worker), "commit": entry.sha}


def _convoy_row(name: str, convoy: Convoy | None, tasks: Sequence[LedgerRow]) -> LedgerRow:
    own = [row for row in tasks if row.get("convoy") == name]
    tracked = {f"gh-{number}": is_open for number, _, is_open in convoy.children} if convoy else {}
    tracked |= {name: is_open for name, _, is_open in convoy.foreign} if convoy else {}
    tracked |= {row["external_ref"]: tracked.get(row["external_ref"], row["status"] != "closed") for row in own}
    is_open = convoy.is_open if convoy else any(tracked.values())
    return {
        "id": name,
        "title": convoy.title if convoy else name,
        "issue_type": "convoy",
        "status": "open" if is_open else "closed",
        "external_ref": name.replace("convoy-", "gh-", 1),
        "tracks": sorted(tracked),
        "tasks": [row["id"] for row in own],
        "progress": {"closed": sum(not is_open for is_open in tracked.values()), "total": len(tracked)},
    }
