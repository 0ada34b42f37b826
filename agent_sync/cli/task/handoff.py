"""`agent-sync handoff`: say that the work is ready for a pull request."""

import sys
from pathlib import Path

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import claim_here, context_here, is_session
from agent_sync.cli.task.sync import sync_and_report
from agent_sync.context import Context
from agent_sync.errors import BadInput, Exit, GitFailed, GitHubDown, Refused, WrongState
from agent_sync.gates.pull import base_ref, pull_gate_root, refuse_committed_claim
from agent_sync.gateway.transport.remotes import base_branch
from agent_sync.leases.fence import known_loss, push_or_refuse, refuse, refuse_shared_push
from agent_sync.leases.words import scope
from agent_sync.system import clock, git_branches, git_history
from agent_sync.system.masking import masked
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.actions import HandedOff
from agent_sync.task.decision.evolve import evolve
from agent_sync.task.decision.messages import NEWS_AFTER_HANDOFF
from agent_sync.task.decision.next_step import next_step
from agent_sync.task.decision.steps import TRANSITIONS
from agent_sync.task.loop import acting_alone
from agent_sync.task.situation_here import situation_of

LONGEST_SUMMARY = 20_000
MOST_SHOWN = 10


@click.command("handoff")
@click.option(
    "--summary",
    help="First line: the pull request's title. `-` reads it from stdin. Default: the first commit's subject.",
)
@click.option("--draft", is_flag=True, help="Open the pull request as a draft.")
@click.option("--later", is_flag=True, help="Only set the phase; the next stop or `agent-sync sync` opens the PR.")
@click.option("--anyway", is_flag=True, help="Also for an issue that was closed, or assigned to somebody else.")
@click.option("--dry-run", is_flag=True, help="Only list what would be done.")
def command(*, summary: str | None, draft: bool, later: bool, anyway: bool, dry_run: bool) -> None:
    """Run the gates, push the branch with its lease and open the pull request.

    Inside a Claude Code session the pull request is opened when the turn ends. One that is open already gets the new
    title and body where no person has edited them, and a draft becomes ready for review. Without a pass nothing is
    handed off, unless with `--draft`, which states the outcome. Refused are uncommitted changes, a branch without
    commits of its own, and one whose newest commit has the claim file. Exit code 8: handed off, and the pull request is
    not open yet.

    \b
    Examples:
      agent-sync handoff
      agent-sync handoff --summary "Fix race condition in cache"
      git log -1 --format=%B | agent-sync handoff --summary -
    """
    context = context_here()
    given = None if summary is None else _given_summary(summary)
    with acting_alone(context, "handing off"):
        claim = claim_here(context)
        refuse(context, claim, known_loss(claim), attempted="handing off")
        branch = _branch(context, claim)
        refuse_shared_push(context, branch)
        _refuse_uncommitted(context)
        head = context.git.head_of(branch)
        if head is None:
            raise GitFailed(f"Branch {branch} has no commit yet.", helps="git commit")
        refuse_committed_claim(context, branch, head)
        _refuse_empty(context, branch, head)
        text = _masked_summary(given or claim.summary.strip() or _first_subject(context, head))
        if dry_run:
            click.echo(f"would run the gates, then push {branch} at {head[:12]} to {context.remotes.push}")
            click.echo("would set the phase to ready_for_pr")
            if not (later or is_session(context)):
                click.echo("would open the pull request")
            return
        _passed_gates(context, draft=draft)
        with working(f"pushing {branch}"):
            claim = push_or_refuse(context, claim, branch, head)
        _record(context, claim, HandedOff(text, branch, draft, context.settings.board.in_review, anyway))
    context.log.write(clock.now(), "handoff", issue=claim.issue_number, branch=branch, head=head)
    click.echo(f"Handed off issue #{claim.issue_number}: branch {branch} is pushed at {head[:12]}.")
    if claim.lease:
        click.echo(scope(claim.lease.where, remote=context.remotes.base))
    if later or is_session(context):
        click.echo("The PR will be opened when this turn ends, or now with `agent-sync sync`.")
        return
    try:
        sync_and_report(context)
    except GitHubDown as error:
        # The branch is pushed and handed off: only the pull request is missing.
        error.exit_status, error.helps = Exit.PENDING, "agent-sync sync, later"
        raise
    claim = claim_here(context)
    if claim.phase is Phase.READY_FOR_PR:
        click.get_current_context().exit(Exit.PENDING)


def _record(context: Context, claim: Claim, outcome: HandedOff) -> None:
    with context.store.locked() as token:
        context.store.save(token, seen=claim, changed=evolve(claim, outcome))
    context.outbox.forget(NEWS_AFTER_HANDOFF)


def _is_enabled(context: Context, root: str) -> bool:
    from agent_sync.gates.config.stop_settings import stop_settings

    return stop_settings(context.place, Path(root), context.environment).is_enabled


def _passed_gates(context: Context, *, draft: bool) -> None:
    """Run the gates in the foreground, so that the stop that follows usually finds their pass."""
    root = pull_gate_root(context)
    if root is None or not _is_enabled(context, root):
        return
    from agent_sync.cli.gates.progress import listener
    from agent_sync.gates.plan.changes import WantedChanges
    from agent_sync.gates.plan.prepare import RunOptions, session_of
    from agent_sync.gates.run.execute import execute_run
    from agent_sync.gates.run.report import summary
    from agent_sync.gates.status import OPENS_PULL

    with listener(is_silent=False, is_terminal=sys.stdout.isatty()) as shown:
        options = RunOptions(WantedChanges(working=True), session=session_of(context))
        result = execute_run(context, Path(root), options, shown)
    if not result.results or result.unchanged_since:
        # A run with gates has said its summary already.
        for line in summary(result):
            click.echo(line)
    if result.status not in OPENS_PULL and not draft and context.settings.pr.require_gate:
        message = f"The gates have not passed: {result.message}"
        raise Refused(message, attempted="handing off", helps="fix it and run `agent-sync handoff` again")


def _masked_summary(summary: str) -> str:
    text = masked(summary)
    if text != summary:
        click.echo("warning: the summary holds a token or password; it was masked", err=True)
    return text


def _first_subject(context: Context, head: str) -> str:
    """Return the first line of the branch's first commit, or of its newest where the base is not known here."""
    commits = git_history.own_commits(context.git, base_ref(context), head) or git_history.own_commits(
        context.git, f"{head}^", head
    )
    subject = commits[0][1].strip() if commits else ""
    if not subject:
        raise WrongState("The commit has no subject to take for a summary.", helps='--summary "What was done"')
    return subject


def _given_summary(given: str) -> str:
    text = sys.stdin.read(LONGEST_SUMMARY + 1) if given == "-" else given
    if len(text) > LONGEST_SUMMARY:
        click.echo(f"warning: the summary was cut at {LONGEST_SUMMARY} characters", err=True)
        text = text[:LONGEST_SUMMARY]
    if not text.strip():
        raise BadInput("The summary is empty: it becomes the pull request's title.", helps='--summary "What was done"')
    return text.strip()


def _branch(context: Context, claim: Claim) -> str:
    if claim.phase not in TRANSITIONS[HandedOff]:
        message = f"Issue #{claim.issue_number} is in phase {claim.phase}: there is nothing to hand off."
        raise WrongState(message, helps=next_step(situation_of(context, claim)).command)
    branch = context.git.current_branch()
    if branch is None:
        raise WrongState("HEAD is detached.", attempted="handing off", helps=f"git switch {claim.branch}")
    if claim.branch and branch != claim.branch and context.git.head_of(claim.branch):
        message = f"HEAD is on branch {branch}, the claim's branch is {claim.branch}."
        raise WrongState(message, helps=f"git switch {claim.branch}")
    return branch


def _refuse_empty(context: Context, branch: str, head: str) -> None:
    """Stop at a branch without commits of its own, as far as this clone knows the branch it would be merged into."""
    remote, base = context.remotes.base, base_branch(context)
    there = f"refs/remotes/{remote}/{base}"
    if base and git_branches.changes_nothing(context.git, head, there):
        message = f"Branch {branch} has no commits of its own: {remote}/{base} has all of them."
        if git_branches.has_own_commits(context.git, head, there):
            message = f"The commits of branch {branch} change nothing compared with {remote}/{base}."
        raise WrongState(message, attempted="handing off", helps="git commit, then `agent-sync handoff` again")


def _refuse_uncommitted(context: Context) -> None:
    changed = context.git.changes()
    if changed:
        shown = ", ".join(changed[:MOST_SHOWN]) + (" …" if len(changed) > MOST_SHOWN else "")
        message = f"There are uncommitted changes: {shown}."
        raise WrongState(message, attempted="handing off", helps="git add and git commit, or git stash")
