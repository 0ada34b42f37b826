"""Says what a hook has to say, in the shape its event allows; in hook mode stdout belongs to this module."""

import json
import os
from dataclasses import dataclass

from agent_sync.task.decision.facts import Trigger
from agent_sync.task.outbox import Readers

EVENT_NAMES = {
    Trigger.STOP: "Stop",
    Trigger.IDLE: "Notification",
    Trigger.SESSION_START: "SessionStart",
    Trigger.PROMPT: "UserPromptSubmit",
    Trigger.TOOL: "PostToolUse",
}
# The client moves longer context into a file and shows the agent the beginning only.
LONGEST = 9_000


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


def readers_of(trigger: Trigger, *, is_continuation: bool, later: bool) -> Readers:
    """Return whom the reply to this event reaches; at a stop, reaching the agent costs a turn."""
    match trigger:
        case Trigger.STOP:
            return Readers(human=True, agent=not is_continuation and not later)
        case Trigger.IDLE | Trigger.SESSION_START | Trigger.PROMPT:
            return Readers(human=True, agent=True)
        case Trigger.REWAKE | Trigger.TOOL | Trigger.SYNC:
            return Readers(human=False, agent=False)


def render(trigger: Trigger, reply: Reply) -> str:
    """Return one JSON object, or nothing at all."""
    if not reply or trigger not in EVENT_NAMES:
        return ""
    values: dict[str, object] = dict(reply.decided)
    if reply.human:
        values["systemMessage"] = _joined(reply.human)
    if reply.agent:
        context = {"hookEventName": EVENT_NAMES[trigger], "additionalContext": _joined(reply.agent)}
        values["hookSpecificOutput"] = context
    return json.dumps(values, ensure_ascii=False) + "\n"


def _joined(texts: tuple[str, ...]) -> str:
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
