"""Remembers what the human was told at stops, so that it is said once and not at every one."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.gates.memory import keeping
from agent_sync.hook_event import HookEvent
from agent_sync.system import files
from agent_sync.task.decision.pull_text import claim_marker
from agent_sync.worktree import GATE_TOLD

MOST_SCOPES = 20


def untold(context: Context, scope: str, lines: Mapping[str, str]) -> tuple[str, ...]:
    """Return the lines whose topics were not told last time in this scope; without a scope all of them are news."""
    if not scope:
        return tuple(lines.values())
    file = Path(context.place.state_dir) / GATE_TOLD
    told = _earlier(file)
    before = told.pop(scope, [])
    if before != list(lines):
        kept = dict(list(told.items())[-MOST_SCOPES + 1 :]) | ({scope: list(lines)} if lines else {})
        with contextlib.suppress(OSError):
            keeping.keep(file, json.dumps(kept).encode())
    return tuple(text for topic, text in lines.items() if topic not in before)


def definitions_scope(context: Context, event: HookEvent, *, adds_only: bool) -> str:
    """Return in what news about the gate definitions are said once: the session or, for new gates, the claim."""
    if adds_only:
        with contextlib.suppress(AgentSyncError):
            claim = context.store.read()
            if claim:
                return claim_marker(claim)
    return f"definitions {event.session_id}" if event.session_id else ""


def _earlier(file: Path) -> dict[str, Any]:
    try:
        values = json.loads(files.read_own(file) or b"{}")
    except (files.NotPlain, OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
