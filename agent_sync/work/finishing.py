"""Puts a result on the hook, with evidence of our own making and what follows, and takes finished work off it."""

import json
from datetime import datetime

from pydantic import Field

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadInput
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.identity import holder_here, worktree_id
from agent_sync.leases.model import LeaseMode, LeaseState, Tip
from agent_sync.leases.refs.compare_and_swap import RefChange
from agent_sync.record import keep as recording
from agent_sync.record.disk.ending import finish
from agent_sync.system.git_tree import tree_of
from agent_sync.system.masking import masked_values
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.facts import Card
from agent_sync.task.releasing import give_back
from agent_sync.work.claims import ending_change, held_work, holding_of, readable_hook, renewal_change
from agent_sync.work.endings.delivery import GIVING, deliver
from agent_sync.work.escalation import ask_human, file_discovered
from agent_sync.work.hook import attempts, moves
from agent_sync.work.hook.evidence import Standpoint, evidence_of
from agent_sync.work.hook.model import (
    DiscoveredTask,
    HookError,
    HookResult,
    HookTask,
    JsonObject,
    ResultStatus,
    Shape,
    WorkHook,
)
from agent_sync.work.hook.moves import Moved
from agent_sync.work.hook.names import WorkerName
from agent_sync.work.hook.orders import Order, carry_out, hook_change
from agent_sync.work.hook.reading import view_here
from agent_sync.work.hook.states import WorkState
from agent_sync.work.hook.view import WorkView
from agent_sync.work.hook.wording import understood, writable

HELP = "agent-sync worker result --help"


class GivenResult(Shape):
    """What a worker may say of its result; the evidence is ours to make, and a task or hashes it names are checked."""

    task_id: str | None = None
    status: ResultStatus | None = Field(default=None, strict=False)
    output: JsonObject | None = None
    error: HookError | None = None
    evidence: JsonObject | None = None
    discovered_tasks: tuple[DiscoveredTask, ...] = ()


@dataclass(frozen=True)
class FinishedWork:
    """A result that hangs on the hook, and what came of it."""

    worker: WorkerName
    hook: WorkHook
    escalated: str = ""
    filed: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    trouble: str = ""
    is_repeat: bool = False


def parse_result(content: str) -> GivenResult:
    """Read a result file, without the secrets in it; what is wrong is said field by field."""
    with understood("The result", helps=HELP):
        given = GivenResult.model_validate_json(content)
        return GivenResult.model_validate_json(json.dumps(masked_values(given.values())))


def failed_result(code: str, message: str, *, recoverable: bool) -> GivenResult:
    """Return the result of work that has failed."""
    with understood("The result", helps=HELP):
        error = HookError(code=writable(code), message=writable(message), recoverable=recoverable)
    return GivenResult(error=error)


def finish_work(
    context: Context, name: str, given: GivenResult, *, open_issues: bool, given_in: str = ""
) -> FinishedWork:
    """Put a result on the hook, then do what follows; all of it may be repeated and happens once.

    Complete is only what others can get: it is committed, and pushed before. `given_in` is the result's own file.
    """
    claim = context.store.read()
    if _status(given) is ResultStatus.COMPLETE and not _is_repeated(context, name, given):
        deliver(context, name, claim, but=given_in)

    def decide(view: WorkView, now: datetime) -> Order[FinishedWork]:
        seen = readable_hook(view, name, attempted=GIVING)
        if seen.hook and _is_given(context, seen.hook, given):
            return Order(FinishedWork(seen.name, seen.hook, is_repeat=True, notes=view.notes))
        held = held_work(context, view, name, attempted=GIVING)
        result = _result(context, held.hook, given, claim, now)
        moved = moves.after_result(held.hook, result, holding_of(held.tip.lease, str(held.name)))
        hook = hook_change(held.name.ref, held.sha, moved, now)
        return Order(FinishedWork(held.name, moved.hook, notes=view.notes), (_claim_after(held.tip, moved, now), hook))

    done = carry_out(context, decide)
    return _follow_up(context, done.value, claim, open_issues=open_issues)


def _is_repeated(context: Context, name: str, given: GivenResult) -> bool:
    seen = readable_hook(view_here(context), name, attempted=GIVING)
    return seen.hook is not None and _is_given(context, seen.hook, given)


def _claim_after(tip: Tip, moved: Moved, now: datetime) -> RefChange:
    """Return what becomes of the claim: done, free to be tried again, or kept until a human has looked."""
    if moved.hook.state is WorkState.COMPLETE:
        return ending_change(tip, now, LeaseState.DONE)
    if may_be_requeued(moved.hook):
        return ending_change(tip, now)
    return renewal_change(tip, now, mode=LeaseMode.MANUAL, phase=str(moved.hook.state).lower())


@dataclass(frozen=True)
class ClearedHook:
    """A hook that is empty now; `before` is what hung there, if anything did."""

    worker: WorkerName
    before: WorkHook | None
    notes: tuple[str, ...] = ()


def clear_hook(context: Context, name: str, *, dry_run: bool = False) -> ClearedHook:
    """Take work that is complete, failed or cancelled off a hook; its history stays."""

    def decide(view: WorkView, now: datetime) -> Order[ClearedHook]:
        seen = readable_hook(view, name, attempted="clearing a hook")
        if seen.hook is None or seen.hook.state is WorkState.EMPTY:
            return Order(ClearedHook(seen.name, None, view.notes))
        moved = moves.after_clear(seen.hook, now, holder_here(context.place).user)
        cleared = ClearedHook(seen.name, seen.hook, view.notes)
        return Order(cleared, (hook_change(seen.name.ref, seen.sha, moved, now),))

    return carry_out(context, decide, dry_run=dry_run).value


def may_be_requeued(hook: WorkHook) -> bool:
    """Tell whether failed work may simply be slung again, so that its claim is free."""
    is_failed = hook.state is WorkState.FAILED and hook.task is not None
    return is_failed and not attempts.reason_to_escalate(hook.attempts, hook.task.id if hook.task else "")


def _is_given(context: Context, hook: WorkHook, given: GivenResult) -> bool:
    """Tell whether this very result was given before, by this worktree, and its answer was lost."""
    result = hook.result
    if result is None or hook.status.worktree != worktree_id(context.place):
        return False
    said = (result.status, result.output, result.error, result.discovered_tasks)
    return said == (_status(given), given.output, given.error, given.discovered_tasks)


def _status(given: GivenResult) -> ResultStatus:
    return given.status or (ResultStatus.FAILED if given.error else ResultStatus.COMPLETE)


def _result(context: Context, hook: WorkHook, given: GivenResult, claim: Claim | None, now: datetime) -> HookResult:
    task = hook.task
    assert task is not None  # noqa: S101  # no hook without a task can be held
    if given.task_id not in {None, task.id}:
        raise BadInput(f"The result is about {given.task_id}; {task.id} hangs on the hook.", helps="correct taskId")
    evidence = evidence_of(task, given.output, now, _standpoint(context, claim, hook))
    _refuse_other_hashes(given, task, evidence.values())
    with understood("The result", helps=HELP):
        return HookResult(
            task_id=task.id,
            status=_status(given),
            output=given.output,
            error=given.error,
            evidence=evidence,
            discovered_tasks=given.discovered_tasks,
        )


def _refuse_other_hashes(given: GivenResult, task: HookTask, ours: JsonObject) -> None:
    """Stop a result that brings hashes along which are not those of its own input and output."""
    wrong = [key for key in ("inputHash", "outputHash") if (given.evidence or {}).get(key, ours[key]) != ours[key]]
    if wrong:
        message = f"The result's {' and '.join(wrong)} do not match what is hashed here for {task.id}."
        raise BadInput(message, helps="leave evidence out; it is made here")


def _standpoint(context: Context, claim: Claim | None, hook: WorkHook) -> Standpoint:
    branch = hook.status.branch
    commit = context.git.head_of(branch) or ""
    tree = tree_of(context.git, commit) if commit else ""
    pull = claim.pr_number if claim and claim.issue_number == hook.status.issue else None
    return Standpoint(commit, tree, pull)


def _follow_up(context: Context, finished: FinishedWork, claim: Claim | None, *, open_issues: bool) -> FinishedWork:
    """Do what follows from a result; trouble with GitHub is told and can be repeated by the same command."""
    hook, changes = finished.hook, finished.__dict__.copy()
    try:
        if open_issues and hook.result and hook.status.issue:
            changes["filed"] = file_discovered(context, hook.status.issue, hook.result)
        if hook.state is WorkState.COMPLETE:
            _free_worktree(context, hook.status.issue)
            changes["trouble"] = show_for_review(context, finished.worker, hook.status.issue)
        elif not may_be_requeued(hook):
            changes["escalated"] = ask_human(context, hook)
        elif claim and claim.issue_number == hook.status.issue:
            changes["trouble"] = give_back(context, claim, reason="the attempt has failed", force=False).trouble
    except AgentSyncError as error:
        changes["trouble"] = str(error)
    return FinishedWork(**changes)


def _free_worktree(context: Context, issue: int | None) -> None:
    """Complete the record and delete the claim file: the next task may begin here."""
    claim = context.store.read()
    if claim is None or claim.issue_number != issue:
        return
    recording.attempt(context, finish)
    with context.store.locked() as token:
        context.store.delete(token, claim)


def show_for_review(context: Context, worker: WorkerName, issue: int | None) -> str:
    """Let the board show that a result waits for a human; return what was wrong with it."""
    names = context.settings.board
    if context.settings.project.number is None or issue is None:
        return ""
    card = context.gateway.card(issue)
    if isinstance(card, Card) and (card.status or "").casefold() != names.in_progress.casefold():
        # A human has moved it meanwhile.
        return ""
    change, trouble = card_change(card, status=names.in_review, agent=str(worker))
    if change:
        context.gateway.move_card(change)
    return trouble
