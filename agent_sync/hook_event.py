"""One event of Claude Code as values: what came in, and what each part that takes part in it has found."""

from datetime import datetime
from typing import TYPE_CHECKING

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.decision.facts import Trigger

if TYPE_CHECKING:
    from agent_sync.gates.answer import GateReply


@dataclass(frozen=True)
class HookEvent:
    """The fields we use; unknown ones are ignored, missing and misshapen ones are empty."""

    trigger: Trigger
    cwd: str = ""
    session_id: str = ""
    prompt_id: str = ""
    # The stop follows one that a hook has sent back.
    is_continuation: bool = False
    is_wake_up: bool = False
    said: str = ""
    prompt: str = ""
    # How many subagents are still at work.
    subagents: int = 0

    @property
    def turn(self) -> str:
        """What tells one prompt of a session from another, as far as the client says."""
        return f"{self.session_id}/{self.prompt_id}"


@dataclass(frozen=True)
class EventPart:
    """What a part has found: whether it had nothing at all to do and until when, and what it has to say."""

    was_idle: bool
    due: datetime | None = None
    # Further files whose change gives it something to do, each as `quiet.sight_of` saw it before the look.
    watch: tuple[str, ...] = ()
    # Watched files it has written itself: their change is not news.
    wrote: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    # The gate's part alone: what it decided about a stop.
    gate: "GateReply | None" = None


IDLE = EventPart(was_idle=True)
BUSY = EventPart(was_idle=False)
