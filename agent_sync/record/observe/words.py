"""What was said last, cut to what a record can hold and freed of secrets."""

from agent_sync.record.machine.model import Record
from agent_sync.system.masking import masked

TAIL = 500
LONGEST_PROMPT = 2_000


def with_output(record: Record, said: str) -> Record:
    """Return the record with the agent's last answer: its tail, and how long it was."""
    text = readable(said)
    if not text or record.current_step is None:
        return record
    changes = {"last_output": text[-TAIL:], "last_output_length": len(text)}
    return _in_step(record, changes)


def with_prompt(record: Record, prompt: str) -> Record:
    """Return the record with what the human asked for last."""
    text = readable(prompt)[:LONGEST_PROMPT]
    return _in_step(record, {"prompt": text}) if text and record.current_step else record


def with_work(record: Record) -> Record:
    """Return the record with what is being worked on: the last checkpoint of this step, else the task itself."""
    step = record.current_step
    if step is None:
        return record
    own = [point for point in record.checkpoints if point.step_index == step.step_index]
    return _in_step(record, {"working_on": own[-1].description if own else record.description})


def _in_step(record: Record, changes: dict[str, object]) -> Record:
    assert record.current_step is not None  # noqa: S101  # asked by every caller
    step = record.current_step.model_copy(update=changes)
    return record if step == record.current_step else record.model_copy(update={"current_step": step})


def readable(text: str) -> str:
    """Return a text that every JSON reader takes, without secrets; half characters are replaced."""
    return masked(text.strip()).encode("utf-8", "replace").decode()
