"""Looks after an idle session that holds no claim: was its branch merged, and what could come next?"""

from datetime import datetime, timedelta

from agent_sync.context import Context
from agent_sync.events.reply import Reply
from agent_sync.system import clock
from agent_sync.task.decision.facts import PullState
from agent_sync.task.decision.outside_text import quoted
from agent_sync.task.decision.tasks import in_order, is_ready
from agent_sync.task.loop import BUSY, IDLE, Looked

DEFAULT_BRANCHES = frozenset({"main", "master", "trunk", "develop"})


def suggestion(context: Context) -> tuple[Looked, Reply]:
    """Suggest the next task when this branch's pull request was merged; one look per branch and ten minutes."""
    branch = context.git.current_branch()
    remote = context.settings.git.remote
    defaults = DEFAULT_BRANCHES | {context.git.default_branch(remote)}
    if branch is None or branch in defaults or context.git.remote_url(remote) is None:
        return IDLE, Reply()
    due = _due(context, branch)
    if due > clock.now():
        return Looked(was_idle=True, due=due), Reply()
    context.memory.looked(branch, clock.now())
    pull = context.gateway.branch_pull(branch)
    if pull is None or pull.state is not PullState.MERGED:
        return BUSY, Reply()
    return BUSY, Reply(agent=(f"PR #{pull.number} of branch {quoted(branch)} is merged. {_next_task(context)}",))


def _due(context: Context, branch: str) -> datetime:
    last = context.memory.last_look(branch)
    now = clock.now()
    if last is None or last > now:
        return now
    return last + timedelta(seconds=context.settings.idle.branch_look_s)


def _next_task(context: Context) -> str:
    board = context.gateway.board() if context.settings.project.number else None
    ready = in_order(board.ready, board.priorities) if board else ()
    first = next((issue for issue in ready if is_ready(issue, ready=context.settings.board.ready)), None)
    if first is None:
        return "Nothing on the board is ready to be claimed."
    return f"Next task: #{first.number} {quoted(first.title)} (`/claim {first.number}`)."
