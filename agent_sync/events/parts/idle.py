"""Looks after an idle session that holds no claim: was its branch merged, and what could come next?"""

from datetime import datetime, timedelta

from agent_sync.context import Context
from agent_sync.hook_event import BUSY, IDLE, EventPart, HookEvent
from agent_sync.system import clock
from agent_sync.task.decision.facts import PullState
from agent_sync.task.decision.outside_text import quoted

DEFAULT_BRANCHES = frozenset({"main", "master", "trunk", "develop"})


def part(context: Context, _event: HookEvent, _gate: object) -> EventPart:
    """The part of a session that holds no claim in an idle event."""
    return IDLE if context.store.read() is not None else suggestion(context)


def suggestion(context: Context) -> EventPart:
    """Suggest the next task when this branch's pull request was merged; one look per branch and ten minutes."""
    branch = context.git.current_branch()
    remotes = context.remotes
    defaults = DEFAULT_BRANCHES | {context.git.default_branch(name) for name in {remotes.base, remotes.push}}
    if branch is None or branch in defaults or context.git.remote_url(remotes.base) is None:
        return IDLE
    due = _due(context, branch)
    if due > clock.now():
        return EventPart(was_idle=True, due=due)
    context.memory.remember_look(branch, clock.now())
    pull = context.gateway.branch_pull(branch)
    if pull is None or pull.state is not PullState.MERGED:
        return BUSY
    merged = f"PR #{pull.number} of branch {quoted(branch)} is merged. {_next_task(context)}"
    return EventPart(was_idle=False, agent=(merged,))


def _due(context: Context, branch: str) -> datetime:
    last = context.memory.last_look(branch)
    now = clock.now()
    if last is None or last > now:
        return now
    return last + timedelta(seconds=context.settings.idle.branch_look_s)


def _next_task(context: Context) -> str:
    from agent_sync.fleet.ready import ReadyTasks, ready_tasks

    board = context.gateway.board() if context.settings.project.number else None
    ready = ready_tasks(context, board, limit_s=context.settings.worker.fetch_limit_s) if board else ReadyTasks()
    first = next(iter(ready.issues), None)
    if first is None:
        return "Nothing on the board is ready to be claimed."
    return f"Next task: #{first.number} {quoted(first.title)} (`/claim {first.number}`)."
