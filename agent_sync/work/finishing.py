"""Puts a result on the hook: validated, with evidence of our own making, and with what follows from a failure."""

import json
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadInput
from agent_sync.leases.identity import worktree_id
from agent_sync.leases.model import Mode
from agent_sync.system.masking import masked_values
from agent_sync.task.claim.model import Claim
from agent_sync.task.releasing import give_back
from agent_sync.work.escalation import ask_human, file_discovered
from agent_sync.work.held import held_work, readable
from agent_sync.work.holdings import ending_step, holding_of, renewal_step
from agent_sync.work.hook import attempts, moves
from agent_sync.work.hook.evidence import Standpoint, evidence_of
from agent_sync.work.hook.model import Hook, HookError, HookResult, HookTask, Json, NewTask, Outcome, Shape
from agent_sync.work.hook.names import WorkerName
from agent_sync.work.hook.orders import Order, Step, carry_out
from agent_sync.work.hook.sight import Sight
from agent_sync.work.hook.states import State
from agent_sync.work.hook.wording import understood, writable

HELP = "agent-sync worker result --help"


class Given(Shape):
    """What a worker may say of its result; the evidence is ours to make, and a task or hashes it names are checked."""

    task_id: str | None = None
    status: Outcome | None = Field(default=None, strict=False)
    output: Json | None = None
    error: HookError | None = None
    evidence: Json | None = None
    discovered_tasks: tuple[NewTask, ...] = ()


@dataclass(frozen=True)
class Finished:
    """A result that hangs on the hook, and what came of it."""

    worker: WorkerName
    hook: Hook
    escalated: str = ""
    filed: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    trouble: str = ""
    is_repeat: bool = False


def given_of(content: str) -> Given:
    """Read a result file, without the secrets in it; what is wrong is said field by field."""
    with understood("The result", helps=HELP):
        given = Given.model_validate_json(content)
        return Given.model_validate_json(json.dumps(masked_values(given.values())))


def failure(code: str, message: str, *, recoverable: bool) -> Given:
    """Return the result of work that has failed."""
    with understood("The result", helps=HELP):
        error = HookError(code=writable(code), message=writable(message), recoverable=recoverable)
    return Given(error=error)


def finish_work(context: Context, name: str, given: Given, *, open_issues: bool) -> Finished:
    """Put a result on the hook, then do what follows; all of it may be repeated and happens once."""
    claim = context.store.read()

    def decide(sight: Sight, now: datetime) -> Order[Finished]:
        seen = readable(sight, name, attempted="giving a result")
        if seen.hook and _is_given(context, seen.hook, given):
            return Order(Finished(seen.name, seen.hook, is_repeat=True, notes=sight.notes))
        held = held_work(context, sight, name, attempted="giving a result")
        result = _result(context, held.hook, given, claim, now)
        moved = moves.finished(held.hook, result, holding_of(held.tip.lease, str(held.name)))
        # Failed work that is not tried again is kept until a human has looked, however long that takes.
        mode = Mode.MANUAL if moved.hook.state is State.FAILED else Mode.AUTO
        claim_step = renewal_step(held.tip, now, mode=mode, phase=str(result.status).lower())
        if may_be_requeued(moved.hook):
            claim_step = ending_step(held.tip, now)
        return Order(
            Finished(held.name, moved.hook, notes=sight.notes), (claim_step, Step(held.name.ref, held.sha, moved))
        )

    done = carry_out(context, decide)
    return _followed_up(context, done.value, claim, open_issues=open_issues)


def may_be_requeued(hook: Hook) -> bool:
    """Tell whether failed work may simply be slung again, so that its claim is free."""
    is_failed = hook.state is State.FAILED and hook.task is not None
    return is_failed and not attempts.reason_to_escalate(hook.attempts, hook.task.id if hook.task else "")


def _is_given(context: Context, hook: Hook, given: Given) -> bool:
    """Tell whether this very result was given before, by this worktree, and its answer was lost."""
    result = hook.result
    if result is None or hook.status.worktree != worktree_id(context.place):
        return False
    said = (result.status, result.output, result.error, result.discovered_tasks)
    return said == (_outcome(given), given.output, given.error, given.discovered_tasks)


def _outcome(given: Given) -> Outcome:
    return given.status or (Outcome.FAILED if given.error else Outcome.COMPLETE)


def _result(context: Context, hook: Hook, given: Given, claim: Claim | None, now: datetime) -> HookResult:
    task = hook.task
    assert task is not None  # noqa: S101  # no hook without a task can be held
    if given.task_id not in {None, task.id}:
        raise BadInput(f"The result is about {given.task_id}; {task.id} hangs on the hook.", helps="correct taskId")
    evidence = evidence_of(task, given.output, now, _standpoint(context, claim, hook))
    _refuse_other_hashes(given, task, evidence.values())
    with understood("The result", helps=HELP):
        return HookResult(
            task_id=task.id,
            status=_outcome(given),
            output=given.output,
            error=given.error,
            evidence=evidence,
            discovered_tasks=given.discovered_tasks,
        )


def _refuse_other_hashes(given: Given, task: HookTask, ours: Json) -> None:
    """Stop a result that brings hashes along which are not those of its own input and output."""
    wrong = [key for key in ("inputHash", "outputHash") if (given.evidence or {}).get(key, ours[key]) != ours[key]]
    if wrong:
        message = f"The result's {' and '.join(wrong)} do not match what is hashed here for {task.id}."
        raise BadInput(message, helps="leave evidence out; it is made here")


def _standpoint(context: Context, claim: Claim | None, hook: Hook) -> Standpoint:
    branch = hook.status.branch
    commit = context.git.head_of(branch) or ""
    tree = context.git.ask("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}").stdout.strip() if commit else ""
    pull = claim.pr_number if claim and claim.issue_number == hook.status.issue else None
    return Standpoint(commit, tree, pull)


def _followed_up(context: Context, finished: Finished, claim: Claim | None, *, open_issues: bool) -> Finished:
    """Do what follows from a result; trouble with GitHub is told and can be repeated by the same command."""
    hook, changes = finished.hook, finished.__dict__.copy()
    try:
        if open_issues and hook.result and hook.status.issue:
            changes["filed"] = file_discovered(context, hook.status.issue, hook.result)
        if hook.state is State.FAILED and not may_be_requeued(hook):
            changes["escalated"] = ask_human(context, hook)
        elif hook.state is State.FAILED and claim and claim.issue_number == hook.status.issue:
            changes["trouble"] = give_back(context, claim, reason="the attempt has failed", force=False).trouble
    except AgentSyncError as error:
        changes["trouble"] = str(error)
    return Finished(**changes)
