"""What the human asked for: an earlier session's request stays beside the new one until the task has moved on."""

from agent_sync.record.machine.machine import count_of
from agent_sync.record.machine.model import Event, Prompt, Record
from agent_sync.record.machine.progress import LONGEST_PROMPT, has_moved_on, readable_text, with_step

# The first request says most, the last ones are the news.
MOST = 5


def with_prompt(record: Record, prompt: str, session_id: str = "") -> Record:
    """Return the record with what the human asked for; what an earlier session was asked for is not overwritten."""
    text = readable_text(prompt)[:LONGEST_PROMPT]
    if not text or record.current_step is None:
        return record
    new = Prompt(text=text, session_id=session_id, seq=count_of(record))
    last = record.asked[-1] if record.asked else None
    if last and (last.text, last.session_id) == (text, session_id):
        return record
    asked = _trimmed((*_still_open(record, session_id), new))
    return with_step(record.model_copy(update={"asked": asked}), {"prompt": _in_force(asked).text})


def requests_of(record: Record) -> tuple[str, ...]:
    """Return everything that was asked for since the task last moved on, oldest first."""
    if record.current_step is None:
        return ()
    texts = tuple(prompt.text for prompt in record.asked)
    prompt = record.current_step.prompt
    return texts if prompt in texts else (prompt,) if prompt else ()


def _still_open(record: Record, session_id: str) -> tuple[Prompt, ...]:
    """Return the requests that a new one comes on top of: none of them is behind the work that was done since."""
    if not record.asked:
        # Written before requests were kept one by one.
        before = record.current_step.prompt if record.current_step else ""
        return (Prompt(text=before),) if before else ()
    last = record.asked[-1].session_id
    own = tuple(prompt for prompt in record.asked if prompt.session_id == last)
    is_open = not has_moved_on(_events_since(record, own[0]))
    if session_id == last:
        return record.asked if is_open else ()
    return record.asked if is_open else own


def _events_since(record: Record, prompt: Prompt) -> tuple[Event, ...]:
    return tuple(event for event in record.history if event.seq >= prompt.seq)


def _in_force(asked: tuple[Prompt, ...]) -> Prompt:
    """Return the last request of the session before, if there was one; else the last of all."""
    earlier = [prompt for prompt in asked if prompt.session_id != asked[-1].session_id]
    return earlier[-1] if earlier else asked[-1]


def _trimmed(asked: tuple[Prompt, ...]) -> tuple[Prompt, ...]:
    return asked if len(asked) <= MOST else (asked[0], *asked[1 - MOST :])
