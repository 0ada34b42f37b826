"""Who a session is: said on the command line, in the environment, or remembered from an earlier take; never guessed."""

import json
from pathlib import Path
from typing import Any

from agent_sync.context import Context
from agent_sync.errors import BadInput
from agent_sync.system import files
from agent_sync.work.hook.names import WorkerName, exact_name
from agent_sync.worktree import WORKER_FILE

KEPT_SESSIONS = 20


def bound_worker(context: Context, *, flag: str = "", session_id: str = "") -> str:
    """Return the worker this session was bound to, as it was said; empty where nobody said so."""
    remembered = _read(context)
    sessions = remembered.get("sessions")
    by_session = sessions.get(session_id, "") if isinstance(sessions, dict) and session_id else ""
    return flag or context.settings.worker.name or str(by_session or remembered.get("worktree") or "")


def required_worker(context: Context, *, flag: str = "") -> str:
    """Return the worker this session is bound to, or say how to bind it."""
    found = bound_worker(context, flag=flag)
    if not found:
        message = "This session is not bound to a worker."
        raise BadInput(message, helps="--worker pool/worker, or AGENT_SYNC_WORKER=pool/worker")
    exact_name(found)
    return found


def remember(context: Context, name: WorkerName) -> None:
    """Bind this worktree to a worker until told otherwise."""
    _write(context, _read(context) | {"worktree": str(name)})


def remember_session(context: Context, name: WorkerName, session_id: str) -> None:
    """Bind one session to a worker; others of the same worktree are not bound by it."""
    known = _read(context)
    sessions = known.get("sessions")
    others = {key: value for key, value in sessions.items() if key != session_id} if isinstance(sessions, dict) else {}
    kept = dict(list(others.items())[-KEPT_SESSIONS:]) | {session_id: str(name)}
    _write(context, known | {"sessions": kept})


def _write(context: Context, values: dict[str, Any]) -> None:
    path = Path(context.place.state_dir) / WORKER_FILE
    files.state_directory(path.parent)
    content = json.dumps(values).encode()
    if files.read_own(path) != content:
        files.write_atomic(path, content, mode=0o600)


def _read(context: Context) -> dict[str, Any]:
    try:
        values = json.loads(files.read_own(Path(context.place.state_dir) / WORKER_FILE) or b"{}")
    except (files.NotPlain, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
