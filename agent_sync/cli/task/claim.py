"""`agent-sync claim`: take a task."""

import contextlib
import json
import secrets
from dataclasses import replace
from functools import partial

import click

from agent_sync.cli.asking import agrees_here
from agent_sync.cli.console import working
from agent_sync.cli.here import context_here, is_session
from agent_sync.cli.issue_numbers import issue_number, qualified_issue
from agent_sync.cli.task.issue_brief import brief_values, tell_brief
from agent_sync.cli.task.next import ready_issues
from agent_sync.cli.telling import tell_partly
from agent_sync.context import Context
from agent_sync.errors import BadInput, Conflict, Exit, LockHeld, NotClaimable, NotFound
from agent_sync.fleet.ready import held_issues
from agent_sync.leases.claim_refs import claim_ref, transport_here
from agent_sync.leases.identity import reservations, worktree_id
from agent_sync.leases.orders import Race
from agent_sync.system import clock
from agent_sync.task.branching import new_branch
from agent_sync.task.claim.model import Claim
from agent_sync.task.claiming import (
    Taken,
    Wish,
    claim_warnings,
    finish,
    held_already,
    other_claim,
    take,
    unfinished,
)
from agent_sync.task.contributing import at_parent, naming_fork
from agent_sync.task.decision.facts import NoCard
from agent_sync.task.decision.outside_text import one_line, quoted
from agent_sync.task.decision.tasks import BoardIssue, Task
from agent_sync.task.loop import acting_alone
from agent_sync.task.session_notes import note_session

MOST_SHOWN = 10
# Among how many more of the best issues an agent chooses after each lost race but the first.
SPREAD = 4
_UNSEEN = "warning: the hooks of this session do not see {root}: start a session there, or run `agent-sync sync` there"
_EXAMPLE = "agent-sync claim 42, or agent-sync claim --next"
# So many changed files are named.
MOST_SHOWN = 10


@click.command("claim")
@click.argument("issue", required=False)
@click.option("--next", "take_next", is_flag=True, help="Take the first ready task of the board.")
@click.option("--worktree", "in_worktree", is_flag=True, help="Work in a new worktree beside this one.")
@click.option(
    "--branch", default="", help="Use this branch instead of claude/<slug>-<issue>, and continue it if it exists."
)
@click.option("--take-over", is_flag=True, help="Take it from a holder that is gone, on the same branch.")
@click.option("--local", is_flag=True, help="Keep the claim in this clone only: no other machine sees it.")
@click.option(
    "--yes",
    is_flag=True,
    help="A human agrees to take over work whose pull request is open, or that was claimed by hand.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the claim as JSON.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
@click.pass_context
def command(
    ctx: click.Context,
    issue: str | None,
    *,
    take_next: bool,
    in_worktree: bool,
    branch: str,
    take_over: bool,
    local: bool,
    yes: bool,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Claim a task: ISSUE is a number, owner/name#number, or words of its title.

    Gets the issue's lease, a ref on the remote that one worktree at a time can have; then makes or checks out the
    branch, writes .agent-claim.json, assigns you, moves the card to In Progress and fills the Agent field. Refuses an
    issue that is closed, blocked or held by somebody else (exit code 3, and nothing is written). An issue that this
    worktree holds already is a success, and nothing is done. Prints what the issue says: the description, comments of
    people with write access, and related issues. Inside a session of
    Claude Code the lease expires unless the hooks renew it; made by hand it never does. Exit code 8: claimed
    but GitHub is not fully updated, or the result could not be confirmed; run it again.

    \b
    Examples:
      agent-sync claim 42
      agent-sync claim "race condition"
      agent-sync claim --next --worktree
    """
    context = context_here()
    issue = _here(context, issue)
    agrees = partial(agrees_here, yes=yes)
    wish = Wish(branch, in_worktree=in_worktree, take_over=take_over, local=local, agrees=agrees)
    if dry_run:
        _tell_plan(*_plan(context, wish, issue, take_next=take_next), as_json=as_json)
        return
    # A new worktree leaves this one alone, so several can be made at once.
    with contextlib.nullcontext() if in_worktree else acting_alone(context, "claiming"):
        taken = _taken(context, wish, issue, take_next=take_next)
    click.echo(json.dumps(_values(taken))) if as_json else _tell(taken)
    if not (in_worktree or taken.is_held_already) and (changed := context.git.changes()):
        shown = ", ".join(changed[:MOST_SHOWN]) + (" …" if len(changed) > MOST_SHOWN else "")
        click.echo(f"note: uncommitted changes came along to branch {taken.claim.branch}: {one_line(shown)}", err=True)
    is_seen = note_session(context.place, taken.root, context.environment)
    if in_worktree and is_session(context) and not is_seen:
        click.echo(_UNSEEN.format(root=taken.root), err=True)
    context.log.write(
        clock.now(), "claim", issue=taken.claim.issue_number, requests=context.requests, trouble=taken.trouble or None
    )
    ctx.exit(Exit.PENDING if taken.trouble else Exit.OK)


def _taken(context: Context, wish: Wish, issue: str | None, *, take_next: bool) -> Taken:
    """Return the claim that was asked for: the one that is held here, or one that is taken now."""
    held = None if wish.in_worktree else context.store.read()
    if held and _is_meant(held, issue, take_next=take_next):
        with working("updating GitHub"):
            return finish(context, held) if held.is_unmirrored else held_already(context, held)
    if held:
        raise other_claim(held)
    if take_next:
        return _take_first_ready(context, wish)
    with working("asking GitHub"):
        context, task = _asked(context, _chosen(context, issue), may_add=True)
    with working(f"claiming issue #{task.number}"):
        return take(context, task, wish)


def _here(context: Context, issue: str | None) -> str | None:
    """Return the bare number of `owner/name#42` if that is this repository; stop where it is another one."""
    named = qualified_issue(issue or "")
    if named is None:
        return issue
    from agent_sync.gateway.transport.address import address_of

    here = address_of(context)[0].full_name
    if named[0].casefold() != here.casefold():
        message = f"{issue} is an issue of {named[0]}; this is a clone of {here}."
        raise BadInput(message, helps=f"run it in a clone of {named[0]}")
    return named[1]


def _asked(context: Context, number: int, *, may_add: bool) -> tuple[Context, Task]:
    """Return an issue, and the context to claim it in: a fork's clone gets its parent as a remote first."""
    if not may_add:
        with naming_fork(context):
            return context, context.gateway.task(number)
    try:
        task = context.gateway.task(number)
    except NotFound:
        moved = at_parent(context)
        if moved is None:
            raise
        return _told(moved), moved.gateway.task(number)
    moved = None if context.remotes.has_base else at_parent(context)
    return (_told(moved), task) if moved else (context, task)


def _told(context: Context) -> Context:
    remotes = context.remotes
    click.echo(f"note: {remotes.fork} is a fork; issues and claims are those of remote {remotes.base}", err=True)
    return context


def _is_meant(held: Claim, issue: str | None, *, take_next: bool) -> bool:
    """Tell whether the claim that is held is the one asked for; one that a crash left unfinished comes before any."""
    if issue is None:
        return held.is_unmirrored or not take_next
    return issue.removeprefix("#") == str(held.issue_number)


def _chosen(context: Context, issue: str | None) -> int:
    number = issue_number(issue or "", helps=_EXAMPLE)
    if not issue:
        raise BadInput("Which issue?", helps=_EXAMPLE)
    return _by_title(context, issue) if number is None else number


def _first_ready(context: Context) -> int:
    found = next(iter(ready_issues(context).issues), None)
    if found is None:
        raise _nothing_ready()
    return found.number


def _take_first_ready(context: Context, wish: Wish) -> Taken:
    """Take the best ready task; after a lost race one of the same priority by chance, so that agents spread.

    What another process of this clone is claiming is tried again last, when that has come to an end.
    """
    for number in unfinished(context) if wish.in_worktree else ():
        with contextlib.suppress(LockHeld, Conflict, NotClaimable), working(f"finishing the claim of #{number}"):
            return take(context, context.gateway.task(number), replace(wish, race=Race.FOR_ANY))
    own = _own_homes(context, wish)
    free, busy, losses = list(ready_issues(context, own=own).issues), list[BoardIssue](), 0
    race = Race.FOR_ANY
    while free or busy:
        if not free:
            free, busy, race = busy, [], Race.FOR_THIS
        issue = _pick(free, losses)
        free.remove(issue)
        try:
            with working(f"claiming issue #{issue.number}"):
                return take(context, context.gateway.task(issue.number), replace(wish, race=race))
        except LockHeld:
            busy += [issue] if race is not Race.FOR_THIS else []
        except (Conflict, NotClaimable):
            losses += 1
            race = Race.FOR_THE_REST if race is Race.FOR_ANY and losses > 1 else race
            held, _ = held_issues(context, own=own, asks=False)
            free, busy = ([one for one in some if one.number not in held] for some in (free, busy))
    raise _nothing_ready()


def _own_homes(context: Context, wish: Wish) -> frozenset[str]:
    """Return the worktrees whose unfinished claims this one may finish: those to be made, and this one itself."""
    here = frozenset() if wish.in_worktree else frozenset({worktree_id(context.place)})
    return here | {home.id for home in reservations(context.place).values()}


def _pick(free: list[BoardIssue], losses: int) -> BoardIssue:
    """Return the best issue; after a lost race any of the same priority, after several one of a wider choice."""
    if losses == 0:
        return free[0]
    wide = free[: SPREAD * (losses - 1)]
    priorities = {one.priority for one in (free[0], *wide)}
    return secrets.choice([one for one in free if one.priority in priorities])


def _nothing_ready() -> NotFound:
    return NotFound("Nothing on the board is ready to claim.", helps="agent-sync board")


def _by_title(context: Context, text: str) -> int:
    """Find the one open issue whose title has these words; several are listed, never guessed at."""
    wanted = text.casefold()
    found = [
        issue for issue in context.gateway.board_issues(text) if issue.is_open and wanted in issue.title.casefold()
    ]
    if not found:
        raise NotFound(f"No open issue on the board has {quoted(text)} in its title.", helps="agent-sync board")
    if len(found) > 1:
        raise BadInput(f"{len(found)} issues match: {_issue_list(found)}.", helps=f"agent-sync claim {found[0].number}")
    return found[0].number


def _issue_list(issues: list[BoardIssue]) -> str:
    shown = ", ".join(f"#{issue.number} {quoted(issue.title, limit=60)}" for issue in issues[:MOST_SHOWN])
    return shown + (" …" if len(issues) > MOST_SHOWN else "")


def _plan(context: Context, wish: Wish, issue: str | None, *, take_next: bool) -> tuple[list[str], list[str]]:
    """Return what to be warned of, and what would be done."""
    held = None if wish.in_worktree else context.store.read()
    if held:
        raise other_claim(held)
    with working("asking GitHub"):
        chosen = _first_ready(context) if take_next else _chosen(context, issue)
        context, task = _asked(context, chosen, may_add=False)
    number = task.number
    is_added = isinstance(task.card, NoCard) and task.card.project_id and context.settings.project.add_issues
    where = " in a new worktree" if wish.in_worktree else ""
    warned = claim_warnings(context, task, wish)
    branch = new_branch(context, task, wish.branch, fetches=False)
    would = [
        _lease_plan(context, number, local=wish.local),
        f"check out branch {branch.name}{where}",
        "write .agent-claim.json (phase coding)",
        *([f"add issue #{number} to the board (1 request)"] if is_added else []),
        f"assign you to issue #{number}, set Status and Agent on its card (1 request)",
    ]
    return [*warned, *branch.notes], would


def _tell_plan(warned: list[str], would: list[str], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"warnings": warned, "would": would}, ensure_ascii=False))
        return
    for warning in warned:
        click.echo(f"warning: {warning}")
    for step in would:
        click.echo(f"would {step}")


def _lease_plan(context: Context, number: int, *, local: bool) -> str:
    reason = "--local was given" if local else transport_here(context).reason
    if reason:
        return f"write {claim_ref(number)} in this clone only: {reason}"
    return f"push {claim_ref(number)} to {context.remotes.base} (1 push)"


def _values(taken: Taken) -> dict[str, object]:
    return {
        "claim": json.loads(taken.claim.to_json()),
        "root": taken.root,
        "title": taken.title,
        "warnings": list(taken.warnings),
        "trouble": taken.trouble,
        "restored": taken.is_restored,
        "held_already": taken.is_held_already,
        "lease": taken.claim.lease.model_dump(mode="json") if taken.claim.lease else None,
        "scope": taken.scope,
        "issue": brief_values(taken.brief) if taken.brief else None,
    }


def _tell(taken: Taken) -> None:
    for warning in taken.warnings:
        click.echo(f"warning: {one_line(warning, limit=600)}", err=True)
    claim = taken.claim
    if taken.is_held_already:
        click.echo(f"Issue #{claim.issue_number} is claimed here already: branch {claim.branch}, phase {claim.phase}.")
        return
    verb = "Restored the claim of" if taken.is_restored else "Claimed"
    where = f"on branch {claim.branch} in {taken.root}. {taken.scope}".rstrip()
    click.echo(f"{verb} issue #{claim.issue_number} {quoted(taken.title)} {where}")
    tell_brief(taken.brief)
    if taken.trouble:
        tell_partly("Claimed, but GitHub was only partly updated", taken.trouble, helps="agent-sync sync")
