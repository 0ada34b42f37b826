"""Everything that the page of one task shows, read from this machine and from the last look at GitHub."""

import re
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.fleet.seen import FleetSeen
from agent_sync.fleet.view import FleetView, as_json
from agent_sync.fleet.web.timeline import time_spent, timeline
from agent_sync.gates.run.logs import LogDir
from agent_sync.record.disk.store import OpenRecord
from agent_sync.record.receipts.proof import verdicts
from agent_sync.system import clock
from agent_sync.system.git_history import diffstat
from agent_sync.task.decision.claims_seen import ClaimedIssue, PullMoments
from agent_sync.task.decision.feedback.reviews import ReviewThread
from agent_sync.task.decision.outside_text import escaped, one_line
from agent_sync.task.failures.reading import LOGS
from agent_sync.worktree import GATE_LOG_DIR, Place, worktree

TAIL_LINES = 60
MOST_BYTES = 200_000
MOST_LOGS = 3


def task_details(context: Context, seen: FleetSeen, view: FleetView, issue: int) -> dict[str, Any] | None:
    """Return the page of a task as values; None where the fleet has no such task."""
    row = next((one for one in as_json(view)["tasks"] if one["issue"] == issue), None)
    if row is None:
        return None
    there = worktree(row["worktree"]) if row["worktree"] else None
    known = seen.github.issue(issue) if seen.github else None
    here = _of_this_machine(context.at(there), there, known) if there else {}
    return {**_EMPTY, **_of_record(None, known, clock.now()), **here, "task": row, "threads": _threads(known)}


_EMPTY: dict[str, Any] = {"gates": "", "logs": [], "receipts": [], "diffstat": ""}


def _of_this_machine(context: Context, place: Place, known: ClaimedIssue | None) -> dict[str, Any]:
    opened = _record(context)
    return {
        **_of_record(opened, known, clock.now()),
        "gates": _gate_output(place),
        "logs": _failing_logs(place),
        "receipts": _receipts(context, opened),
        "diffstat": _diffstat(context),
    }


def _record(context: Context) -> OpenRecord | None:
    try:
        return context.recorder.current()
    except (AgentSyncError, OSError):
        return None


def _of_record(opened: OpenRecord | None, known: ClaimedIssue | None, now: datetime) -> dict[str, Any]:
    """Return what happened, and where the time went."""
    events = opened.record.history if opened else ()
    points = opened.record.checkpoints if opened else ()
    rows = timeline(events, points, known.moments if known else PullMoments())
    return {
        "timeline": [{"at": row.at.isoformat(), "who": row.who, "text": row.text} for row in rows],
        "spent": [{"by": by.value, "seconds": round(seconds)} for by, seconds in time_spent(events, now).items()],
    }


def _gate_output(place: Place) -> str:
    """Return the end of what the last run of the gates printed."""
    logs = LogDir(Path(place.root) / GATE_LOG_DIR)
    return _tail(logs.console(logs.last_run()))


def _failing_logs(place: Place) -> list[dict[str, str]]:
    """Return the ends of the logs of failed checks, newest first, as they were kept for the agent."""
    found = (Path(place.state_dir) / LOGS).glob("*.log")
    newest = sorted(found, key=lambda file: file.stat().st_mtime, reverse=True)[:MOST_LOGS]
    return [{"name": _log_name(file), "path": str(file), "tail": _tail(file)} for file in newest]


def _log_name(file: Path) -> str:
    return re.sub(r"^[0-9a-f]{12}-(.*)-[0-9a-f]{8}$", r"\1", file.stem)


def _tail(file: Path) -> str:
    """Return the last lines of a log; a link may lead anywhere, and is not followed."""
    if file.is_symlink() or file.parent.is_symlink():
        return ""
    try:
        with file.open("rb") as content:
            content.seek(max(0, file.stat().st_size - MOST_BYTES))
            lines = content.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return _shown("\n".join(lines[-TAIL_LINES:]))


def _shown(text: str) -> str:
    """Return a text line by line, with what cannot be seen spelt out."""
    return "\n".join(escaped(line) for line in text.splitlines())


def _receipts(context: Context, opened: OpenRecord | None) -> list[dict[str, str]]:
    if opened is None:
        return []
    verified = verdicts(opened.record, context.environment)
    return [
        {"id": one.receipt_id, "command": one_line(one.command), "verified": verified.get(one.receipt_id, "unsigned")}
        for one in opened.record.receipts
    ]


def _diffstat(context: Context) -> str:
    """Return which files the branch changes, and how much."""
    remote = context.settings.git.remote
    base = context.git.default_branch(remote)
    return _shown(diffstat(context.git, f"{remote}/{base}")) if base else ""


def _threads(known: ClaimedIssue | None) -> list[dict[str, Any]]:
    threads = known.pull.conversation.threads if known and known.pull else ()
    opened = [one for one in threads if not one.is_resolved]
    return [_thread(one) for one in chain(opened, (one for one in threads if one.is_resolved))]


def _thread(thread: ReviewThread) -> dict[str, Any]:
    remarks = [
        {"author": one_line(one.author + one.label, limit=80), "body": _shown(one.body)} for one in thread.remarks
    ]
    where = f"{one_line(thread.path)}:{thread.line}" if thread.line else one_line(thread.path)
    return {"id": thread.short_id, "where": where, "resolved": thread.is_resolved, "remarks": remarks}
