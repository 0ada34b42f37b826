"""The client's JSON: reads what Claude Code sends to a hook, and writes the answer; hooks' stdout belongs to it."""

import json
import os
from typing import Any

from agent_sync.hook_event import HookEvent
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet import answer as quiet, last_words
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.outbox import Readers

WAKE_UP = last_words.WAKE_UP.decode()
EVENT_NAMES = {
    Trigger.STOP: "Stop",
    Trigger.IDLE: "Notification",
    Trigger.SESSION_START: "SessionStart",
    Trigger.PROMPT: "UserPromptSubmit",
    Trigger.TOOL: "PostToolUse",
}
# The client moves longer context into a file and shows the agent the beginning only.
LONGEST = 9_000


def trigger_of(arguments: list[str]) -> Trigger:
    """Return what a hook command line asks for; words we do not know change nothing."""
    if arguments[0] == Trigger.IDLE and "--rewake" in arguments:
        return Trigger.REWAKE
    return Trigger(arguments[0])


def parse(trigger: Trigger, raw: bytes) -> HookEvent | None:
    """Return the event, or None where the input is not a JSON object."""
    values = _object(raw)
    if values is None:
        return None
    return HookEvent(
        trigger=trigger,
        cwd=_path(values.get("cwd")),
        session_id=_text(values.get("session_id")),
        prompt_id=_text(values.get("prompt_id")),
        is_continuation=values.get("stop_hook_active") is True,
        is_wake_up=_text(values.get("prompt")).lstrip().startswith(WAKE_UP),
        said=_text(values.get("last_assistant_message")),
        prompt=_text(values.get("prompt")),
        subagents=_running_subagents(values.get("background_tasks")),
    )


def _object(raw: bytes) -> dict[str, Any] | None:
    if len(raw) > quiet.LARGEST:
        return None
    try:
        values = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _running_subagents(tasks: object) -> int:
    """Count the subagents that are still at work; other background tasks may run for ever."""
    if not isinstance(tasks, list):
        return 0
    return sum(
        1
        for task in tasks
        if isinstance(task, dict) and task.get("type") == "subagent" and task.get("status") == "running"
    )


def _text(value: object) -> str:
    """Return a text; half a character, which no file can hold, as a question mark."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) and "\0" not in value else ""


def _path(value: object) -> str:
    text = _text(value)
    return text if text == value else ""


@dataclass(frozen=True)
class Reply:
    """What the human sees, what the agent reads, and what the gate decided about a stop."""

    human: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    decided: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: "Reply") -> "Reply":
        return Reply(self.human + other.human, self.agent + other.agent, self.decided or other.decided)

    def __bool__(self) -> bool:
        return bool(self.human or self.agent or self.decided)


def readers_of(trigger: Trigger, *, is_continuation: bool, later: bool, is_attended: bool = True) -> Readers:
    """Return whom the reply to this event reaches; at a stop, reaching the agent costs a turn.

    Where no terminal is, the client shows what is said at a stop alone.
    """
    match trigger:
        case Trigger.STOP:
            return Readers(human=True, agent=not is_continuation and not later, patient=False)
        case Trigger.SESSION_START | Trigger.PROMPT:
            return Readers(human=is_attended, agent=True)
        case Trigger.IDLE:
            return Readers(human=True, agent=True)
        case Trigger.REWAKE | Trigger.TOOL | Trigger.SYNC:
            return Readers(human=False, agent=False)


def render(trigger: Trigger, reply: Reply) -> str:
    """Return one JSON object, or nothing at all."""
    if not reply or trigger not in EVENT_NAMES:
        return ""
    values: dict[str, object] = dict(reply.decided)
    if reply.human:
        values["systemMessage"] = _joined_lines(reply.human)
    if reply.agent:
        context = {"hookEventName": EVENT_NAMES[trigger], "additionalContext": _joined_lines(reply.agent)}
        values["hookSpecificOutput"] = context
    return json.dumps(values, ensure_ascii=False) + "\n"


def _joined_lines(texts: tuple[str, ...]) -> str:
    text = "\n".join(dict.fromkeys(texts))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def write(text: str, *, descriptor: int) -> bool:
    """Write all of `text` and tell whether that went well: a reader that is gone is no reason to fail."""
    rest = text.encode("utf-8", "replace")
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError:
        return False
    return True
