"""Judges at a session's start: looks at git, the lease and GitHub first, then says whether a crash has to be mended."""

from datetime import timedelta
from pathlib import Path

from agent_sync.context import Context
from agent_sync.record.crash.advice import Circumstances, diagnosis, with_crash
from agent_sync.record.crash.outside import Outside, look_outside, merged_objection
from agent_sync.record.crash.owner import SystemProcesses, owner_standing
from agent_sync.record.disk.contents import ARTIFACTS, VALIDATING, VALIDATION_LOCK
from agent_sync.record.disk.store import RecordStore
from agent_sync.record.keep import with_session_end
from agent_sync.record.machine.model import Record
from agent_sync.record.machine.progress import TAIL, readable_text, with_objection
from agent_sync.record.machine.states import CLAIM_TO_CLOSE, RecordState
from agent_sync.record.observe.activity import with_git_activity
from agent_sync.record.observe.checkpoints import TreeState, with_files_touched, working_tree_state
from agent_sync.record.receipts.proof import valid_ids
from agent_sync.system import clock, files
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase

# A question is open: whether a human has acted, or whether what was crashed may be resumed.
_OPEN = frozenset({RecordState.AWAITING_HUMAN, RecordState.RECOVERING})
# So short ago a look at the pull request answers for this one.
JUST_LOOKED = timedelta(seconds=15)


def recover(context: Context, *, session_id: str = "") -> Record | None:
    """Reconcile the record, then note a crash and what to do about it; where nothing is new, nothing changes."""
    found = context.recorder.current()
    if found is None:
        return None
    record = with_session_end(context, found.record, clock.now())
    has_crashed = diagnosis(record, _circumstances(found.store, record, context)) is not None
    outside = _outside(context, record, session_id, has_crashed=has_crashed)
    with context.git.one_look():
        return context.recorder.change(lambda before: _judged(context, found.store, before, outside), clock.now())


def is_validating(store: RecordStore, record: Record) -> bool:
    """Tell whether the validation that a task waits for still runs, whoever asked for it."""
    if record.state is not RecordState.STEP_VALIDATING:
        return False
    with files.locked_if_free(store.directory / VALIDATION_LOCK) as is_free:
        return not is_free


def _judged(context: Context, store: RecordStore, record: Record, outside: Outside) -> Record:
    """Diagnose under the lock, after a look at git: what was committed before the crash is not lost."""
    now = clock.now()
    record = with_session_end(context, record, now)
    caught_up = with_git_activity(record, context.git, context.place, context.settings, now, is_at_work=False)
    circumstances = _circumstances(store, record, context, outside=outside.objection or "", is_thorough=True)
    recovery = diagnosis(record, circumstances, caught_up=caught_up)
    judged = with_files_touched(caught_up, context.git)
    if recovery:
        return with_crash(judged, recovery, now)
    return judged if outside.objection is None else with_objection(judged, outside.objection, now)


def _outside(context: Context, record: Record, session_id: str, *, has_crashed: bool) -> Outside:
    """Ask where the answer matters: after a crash, with a pull request, or while a question is open."""
    if record.template != CLAIM_TO_CLOSE:
        return Outside()
    claim = context.store.read()
    is_asked = has_crashed or record.state in _OPEN
    found = look_outside(context, session_id, asks_github=is_asked or _has_unseen_pull(claim))
    if has_crashed and claim and claim.phase is Phase.MERGED_DETECTED:
        # The session's start has found out just before, so GitHub is not asked again.
        found.objection = merged_objection(claim.pr_number, claim.issue_number)
    return found


def _has_unseen_pull(claim: Claim | None) -> bool:
    """Tell whether there is a pull request that this session's start has not looked at just before."""
    if claim is None or claim.pr_number is None:
        return False
    seen = claim.last_check_poll
    return seen is None or not timedelta(0) <= clock.now() - seen < JUST_LOOKED


def _circumstances(
    store: RecordStore, record: Record, context: Context, *, outside: str = "", is_thorough: bool = False
) -> Circumstances:
    tree = working_tree_state(context.git) if is_thorough else TreeState("", "", dirty=True, tree="")
    is_alive = is_validating(store, record)
    return Circumstances(
        standing=owner_standing(record.owner, SystemProcesses()),
        now=clock.now(),
        stale_s=context.settings.record.stale_s,
        max_recoveries=context.settings.record.max_recoveries,
        outside=outside,
        valid_receipts=valid_ids(record, context.environment) if is_thorough else frozenset(),
        tree="" if tree.dirty else tree.tree,
        head=tree.head,
        is_validation_alive=is_alive,
        validation_output=_printed(store.directory / ARTIFACTS / f"{VALIDATING}.stdout") if is_thorough else "",
    )


def _printed(file: Path) -> str:
    """Return the end of what an interrupted validation had printed."""
    try:
        return readable_text(file.read_bytes()[-4 * TAIL :].decode("utf-8", "replace"))[-TAIL:]
    except OSError:
        return ""
