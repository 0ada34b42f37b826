"""`agent-sync sync`: one full look-decide-act round."""

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import claim_here, context_here, for_reader
from agent_sync.cli.telling import counted, next_line, state_lines
from agent_sync.context import Context
from agent_sync.events.parts.briefing import head_line
from agent_sync.task.action_words import action_words
from agent_sync.task.claim.phases import Phase
from agent_sync.task.claiming import finish
from agent_sync.task.decision.decide import decide
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.decision.situation import NOTHING_ASKED, Known
from agent_sync.task.loop import acting_alone, drive, look_up_facts
from agent_sync.task.outbox import Readers
from agent_sync.task.situation_here import situation_of

PERSON = Readers(human=True, agent=True)


@click.command("sync")
@click.option("--dry-run", is_flag=True, help="Look, and only list what would be done.")
def command(*, dry_run: bool) -> None:
    """Bring the claim as far as it goes now: open the pull request, look at CI, close, update the board.

    Then print how CI, reviews and gates stand and what comes next, whether it was said before or not.

    \b
    Examples:
      agent-sync sync
      agent-sync sync --dry-run
    """
    context = context_here()
    claim = claim_here(context)
    if dry_run:
        actions = decide(Trigger.SYNC, claim, look_up_facts(context, Trigger.SYNC, claim))
        for action in actions:
            click.echo(f"would {action_words(action, claim)}")
        nothing = "" if actions else "nothing to do; "
        click.echo(f"{nothing}{counted(context.requests, 'request')} made to find out")
    else:
        sync_and_report(context)


def _finish_claim(context: Context) -> None:
    """Tell GitHub of a claim that could not be told when it was made."""
    claim = context.store.read()
    if claim and claim.is_unmirrored and claim.phase is not Phase.DONE:
        with acting_alone(context, "finishing the claim"):
            finish(context, claim)


def sync_and_report(context: Context) -> None:
    """Drive the claim and tell the person everything that waited to be said."""
    with working("looking, deciding, acting"):
        _finish_claim(context)
        drive(context, Trigger.SYNC, session_id="terminal")
    waiting = context.outbox.waiting()
    for text in dict.fromkeys(notice.text for notice in waiting):
        click.echo(for_reader(context, text))
    context.outbox.mark(waiting, PERSON)
    claim = context.store.read()
    if claim:
        beside = context.found_beside
        known = Known(pull=beside.pull) if beside and beside.is_own else NOTHING_ASKED
        stands = situation_of(context, claim, known)
        click.echo(for_reader(context, head_line(claim, stands)))
        for line in state_lines(context, claim):
            click.echo(line)
        click.echo(next_line(stands))
