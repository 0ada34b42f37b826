"""Reads what a client says about a stop, whatever it is."""

import json
from dataclasses import dataclass
from typing import Any

LARGEST = 64 << 20


@dataclass(frozen=True)
class StopEvent:
    """The fields a gate depends on; missing and misshapen ones are empty."""

    cwd: str = ""
    session_id: str = ""
    prompt_id: str = ""
    is_active: bool = False
    subagents: int = 0

    @property
    def turn(self) -> str:
        """What tells one prompt of a session from another, as far as the client says."""
        return f"{self.session_id}/{self.prompt_id}"


def read_event(raw: bytes) -> StopEvent | None:
    """Return the event; None where the input is no JSON object."""
    try:
        values = json.loads(raw) if len(raw) <= LARGEST else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    return StopEvent(
        cwd=_text(values.get("cwd")),
        session_id=_text(values.get("session_id")),
        prompt_id=_text(values.get("prompt_id")),
        is_active=values.get("stop_hook_active") is True,
        subagents=_running(values.get("background_tasks")),
    )


def _running(tasks: Any) -> int:
    """Count the subagents that are still at work; other background tasks may run for ever."""
    if not isinstance(tasks, list):
        return 0
    return sum(
        1
        for task in tasks
        if isinstance(task, dict) and task.get("type") == "subagent" and task.get("status") == "running"
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""
