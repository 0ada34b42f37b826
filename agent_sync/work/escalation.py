"""Asks a human, and files what was found on the way; a marker in the text makes each of it happen once."""

from agent_sync.context import Context
from agent_sync.task.decision.outside_text import one_line, quoted
from agent_sync.work.hook.attempts import lost_tries, reason_to_escalate
from agent_sync.work.hook.evidence import json_hash
from agent_sync.work.hook.model import HookResult, WorkHook

LABEL = "needs-human"


def ask_human(context: Context, hook: WorkHook) -> str:
    """Label the issue and comment once for this many failures; return the reason."""
    task, issue = hook.task, hook.status.issue
    if task is None or issue is None:
        return ""
    lost = lost_tries(hook.attempts, task.id)
    reason = reason_to_escalate(hook.attempts, task.id)
    lines = [f"agent-sync has stopped trying: {reason}.", ""]
    lines += [f"{one.number}. {quoted(one.error.message) if one.error else one.outcome}" for one in lost]
    marker = f"<!-- agent-sync:escalated:{task.id}:{len(lost)} -->"
    context.gateway.escalate(issue, label=LABEL, comment="\n".join(lines), marker=marker)
    return reason


def file_discovered(context: Context, issue: int, result: HookResult) -> tuple[int, ...]:
    """Open an issue for everything that was found, and return the numbers."""
    numbers = []
    for found in result.discovered_tasks:
        digest = json_hash({"task": result.task_id, "title": found.title, "body": found.body})[:16]
        body = "\n\n".join(filter(None, [found.body, f"discovered from #{issue}"]))
        marker = f"<!-- agent-sync:discovered:{digest} -->"
        numbers.append(context.gateway.file_issue(one_line(found.title, limit=200), body, marker=marker))
    return tuple(numbers)
