"""The shortest HOOK.md there is: enough to know the task, its state and which hook.json it was made from."""

from agent_sync.record.machine.model import Record


def outline(record: Record) -> str:
    """Return task, state and source of a record as Markdown."""
    return f"# {record.task_id}\n\nState: `{record.state}`\n\n<!-- hook.json {record.digest} -->\n"
