"""Reads what Claude Code sends to a hook, whatever it is."""

import json
from dataclasses import dataclass
from typing import Any

from agent_sync.quiet import answer as quiet
from agent_sync.task.decision.facts import Trigger

WAKE_UP = quiet.WAKE_UP.decode()


@dataclass(frozen=True)
class HookEvent:
    """The fields we use; unknown ones are ignored, missing and misshapen ones are empty."""

    trigger: Trigger
    cwd: str = ""
    session_id: str = ""
    is_continuation: bool = False
    is_wake_up: bool = False
    said: str = ""
    prompt: str = ""
    raw: bytes = b"{}"


def trigger_of(arguments: list[str]) -> Trigger:
    """Return what a hook command line asks for; words we do not know change nothing."""
    if arguments[0] == Trigger.IDLE and "--rewake" in arguments:
        return Trigger.REWAKE
    return Trigger(arguments[0])


def parse(trigger: Trigger, raw: bytes) -> HookEvent | None:
    """Return the event, or None where the input is no JSON object."""
    values = _object(raw)
    if values is None:
        return None
    return HookEvent(
        trigger=trigger,
        cwd=_text(values.get("cwd")),
        session_id=_text(values.get("session_id")),
        is_continuation=values.get("stop_hook_active") is True,
        is_wake_up=_text(values.get("prompt")).lstrip().startswith(WAKE_UP),
        said=_text(values.get("last_assistant_message")),
        prompt=_text(values.get("prompt")),
        raw=raw,
    )


def _object(raw: bytes) -> dict[str, Any] | None:
    if len(raw) > quiet.LARGEST:
        return None
    try:
        values = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""
