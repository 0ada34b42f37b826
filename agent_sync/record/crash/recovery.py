"""Looks after a crash: is the owner gone, what does GitHub say, and what is the way that repeats least?"""

import threading
from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.record.crash.advice import Circumstances, diagnosed
from agent_sync.record.crash.owner import standing
from agent_sync.record.crash.proc import SystemProcesses
from agent_sync.record.crash.resuming import recovered
from agent_sync.record.machine.model import Record
from agent_sync.record.observe.reconcile import reconciled
from agent_sync.record.observe.touched import working_tree_state
from agent_sync.record.receipts.proof import valid_ids
from agent_sync.system import clock
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.facts import PullState
from agent_sync.task.decision.pr_body import marker

# A session that begins after a crash is told so at once, whether GitHub answers or not.
_PATIENCE_S = 5.0


def recover(context: Context) -> Record | None:
    """Note a crash and what to do about it; where nothing has crashed, or it is noted already, nothing changes."""
    found = context.recorder.opened()
    if found is None:
        return None
    now = clock.now()
    if diagnosed(found[1], _circumstances(context, found[1], now)) is None:
        return found[1]
    outside = _outside(context, found[1])
    return context.recorder.change(lambda record: _recovered(context, record, outside, now), now)


def _recovered(context: Context, record: Record, outside: str, now: datetime) -> Record:
    """Diagnose again under the lock, after a look at git: what was committed before the crash is not lost."""
    tree = working_tree_state(context.git)
    circumstances = _circumstances(
        context,
        record,
        now,
        outside=outside,
        valid=valid_ids(record, context.environment),
        tree="" if tree.dirty else tree.tree,
    )
    caught_up = reconciled(record, context.git, context.place, context.settings, now, is_at_work=False)
    recovery = diagnosed(record, circumstances, caught_up=caught_up)
    return recovered(caught_up, recovery, now) if recovery else record


def _circumstances(  # noqa: PLR0913  # what is known of a crash has as many sides
    context: Context,
    record: Record,
    now: datetime,
    *,
    outside: str = "",
    valid: frozenset[str] = frozenset(),
    tree: str = "",
) -> Circumstances:
    return Circumstances(
        standing=standing(record.owner, SystemProcesses()),
        now=now,
        stale_s=context.settings.record.stale_s,
        max_recoveries=context.settings.record.max_recoveries,
        outside=outside,
        valid_receipts=valid,
        tree=tree,
    )


def _outside(context: Context, record: Record) -> str:
    """Return why the work must not go on, as GitHub has it; nothing where it cannot be asked."""
    claim = context.store.read()
    if record.issue_number is None or claim is None:
        return ""
    said: list[str] = []
    # A thread, because a name look-up cannot be interrupted; nobody waits for it when this process ends.
    asking = threading.Thread(target=lambda: said.append(_asked(context, claim)), daemon=True)
    asking.start()
    asking.join(_PATIENCE_S)
    return said[0] if said else ""


def _asked(context: Context, claim: Claim) -> str:
    try:
        return _said_by_github(context, claim)
    except (AgentSyncError, OSError) as error:
        context.log.write(clock.now(), "trouble", error=str(error))
        return ""


def _said_by_github(context: Context, claim: Claim) -> str:
    seen = context.gateway.closing(
        issue=claim.issue_number, pull=claim.pr_number, branch=claim.branch, marker=marker(claim)
    )
    if not seen.is_open:
        return f"issue #{claim.issue_number} is closed."
    if seen.pull and seen.pull.state is PullState.MERGED:
        return f"PR #{seen.pull.number} is merged."
    return ""
