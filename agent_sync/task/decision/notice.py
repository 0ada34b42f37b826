"""A sentence that waits for its readers."""

from dataclasses import replace

from agent_sync.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Notice:
    """A sentence for somebody; its id makes sure that it is said once."""

    id: str
    text: str
    for_human: bool = True
    for_agent: bool = False
    wakes: bool = False
    # What the agent reads instead: the same news with its next step.
    agent_text: str = ""
    # For the agent it is early enough with the next prompt: it is not worth a model turn.
    can_wait: bool = False


def for_session(notice: Notice, session: str) -> tuple[Notice, Notice]:
    """Return what a session that begins is told, said before or not, and what keeps others from saying it again."""
    return replace(notice, id=f"{notice.id}@{session}", wakes=False), as_told(notice)


def as_told(notice: Notice) -> Notice:
    """Return a notice that nobody reads and that is known from now on."""
    return replace(notice, for_human=False, for_agent=False, wakes=False)
