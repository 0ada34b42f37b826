"""`agent-sync approve · reject · abandon`: what people decide about a task."""

import click

from agent_sync.cli.here import context_here, refuse_agent
from agent_sync.cli.record.recorded import record_here, tell_standing
from agent_sync.context import Context
from agent_sync.errors import IllegalMove
from agent_sync.record import keep as recording
from agent_sync.record.machine import by_hand
from agent_sync.record.machine.progress import abandoned_record, readable_text
from agent_sync.record.machine.states import CLAIM_TO_CLOSE, RecordState
from agent_sync.system import clock

_SAID_SO = "A human has decided: required inside an agent's session."


@click.command("approve")
@click.option("--reason", default="", help="Why; kept in the history.")
@click.option("--yes", is_flag=True, help=_SAID_SO)
def approve(*, reason: str, yes: bool) -> None:
    """Approve a step that waits for a human: the next step is pending, or the task is complete.

    This is for people: inside an agent's session it is refused without --yes, which says that a human has decided.
    In the record of a claim, whose steps follow the claim, it lets the agent continue.

    \b
    Example:
      agent-sync approve --reason "the failing test is known to be flaky"
    """
    context = _decidable(yes=yes, command="approve")
    is_step_done = record_here(context).record.template != CLAIM_TO_CLOSE
    record = recording.work(
        context, lambda record, now: by_hand.with_approval(record, reason, now), completes=is_step_done
    )
    if record:
        tell_standing(record)


@click.command("reject")
@click.option("--reason", default="", help="Why; kept in the history.")
@click.option("--yes", is_flag=True, help=_SAID_SO)
def reject(*, reason: str, yes: bool) -> None:
    """Send back a step that waits for a human: it is tried again; after the last attempt the task fails.

    This is for people: inside an agent's session it is refused without --yes, which says that a human has decided.

    \b
    Example:
      agent-sync reject --reason "the test must pass"
    """
    context = _decidable(yes=yes, command="reject")
    record = recording.work(context, lambda record, now: by_hand.with_rejection(record, reason, now))
    if record:
        tell_standing(record)


@click.command("abandon")
@click.option("--reason", default="", help="Why; kept in the history.")
def abandon(*, reason: str) -> None:
    """Give up a task. Its record is kept for a while: `agent-sync resume --reopen TASK` reopens it.

    \b
    Example:
      agent-sync abandon --reason "not needed any more"
    """
    context = context_here()
    task_id = record_here(context).record.task_id
    claim = context.store.read()
    if claim:
        message = f"Task {task_id} belongs to the claim on issue #{claim.issue_number}; release that first."
        raise IllegalMove(message, attempted="abandoning the task", helps="agent-sync release")
    now = clock.now()
    why = readable_text(reason) or "abandoned by command"
    record = context.recorder.change(lambda record: abandoned_record(record, why, now), now)
    if record:
        tell_standing(record)
    click.echo(f"To reopen it: agent-sync resume --reopen {task_id}")


def _decidable(*, yes: bool, command: str) -> Context:
    """Return the context where a human may decide; who works for an agent is not one."""
    context = context_here()
    record = record_here(context).record
    if not yes and record.state is RecordState.AWAITING_HUMAN:
        helps = f"ask the human; once they have decided: agent-sync {command} --yes"
        attempted = f"deciding about task {record.task_id}"
        refuse_agent(context.environment, "decide this", attempted=attempted, helps=helps)
    return context
