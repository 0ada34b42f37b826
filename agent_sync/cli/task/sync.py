"""`agent-sync sync`: one full look-decide-act round."""

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import claim_here, desk_here
from agent_sync.cli.telling import next_line, state_lines
from agent_sync.context import Desk
from agent_sync.events.parts.briefing import head_line
from agent_sync.task.claim.phases import Phase
from agent_sync.task.claiming import finish
from agent_sync.task.decision.decide import decide
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.loop import acting_alone, drive, looked_up
from agent_sync.task.outbox import Readers, unread
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
    desk = desk_here()
    claim = claim_here(desk)
    if dry_run:
        actions = decide(Trigger.SYNC, claim, looked_up(desk, Trigger.SYNC, claim))
        for action in actions:
            click.echo(f"would do: {type(action).__name__}")
        click.echo(f"{len(actions)} to do, {desk.requests} requests made to find out")
    else:
        synced(desk)


def _finish_claim(desk: Desk) -> None:
    """Tell GitHub of a claim that could not be told when it was made."""
    claim = desk.store.read()
    if claim and claim.is_unmirrored and claim.phase is not Phase.DONE:
        with acting_alone(desk, "finishing the claim"):
            finish(desk, claim)


def synced(desk: Desk) -> None:
    """Drive the claim and tell the person everything that waited to be said."""
    with working("looking, deciding, acting"):
        _finish_claim(desk)
        drive(desk, Trigger.SYNC, session_id="terminal")
    waiting = desk.outbox.waiting()
    human, agent = unread(waiting, PERSON)
    for text in dict.fromkeys((*human, *agent)):
        click.echo(text)
    desk.outbox.mark(waiting, PERSON)
    claim = desk.store.read()
    if claim:
        stands = situation_of(desk, claim)
        click.echo(head_line(claim, stands))
        for line in state_lines(desk, claim):
            click.echo(line)
        click.echo(next_line(stands))
