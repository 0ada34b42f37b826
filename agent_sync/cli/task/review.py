"""`agent-sync review`: what reviewers said on the claim's pull request, answered and settled from here."""

import json

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import claim_here, context_here
from agent_sync.context import Context
from agent_sync.errors import BadInput, NotFound, WrongState
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.fence import must_hold
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.feedback.reviews import Remark, ReviewThread, Wake, is_heard, short_id, spoken
from agent_sync.task.decision.outside_text import fenced_prose, one_line
from agent_sync.task.decision.pull_text import claim_marker


@dataclass(frozen=True)
class Entry:
    """A thread, a review or a comment that waits, with the id by which it is answered."""

    id: str
    remarks: tuple[Remark, ...]
    thread: ReviewThread | None = None


@click.group("review")
def command() -> None:
    """Show what reviewers said on the claim's pull request, answer it, and settle threads."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_command(*, as_json: bool) -> None:
    """List unresolved review threads, reviews and comments of the claim's pull request, each with its id.

    Bots and people without write access are marked.

    \b
    Example:
      agent-sync review list
    """
    context = context_here()
    _, pull = _pull_here(context)
    entries = _entries(pull)
    if as_json:
        click.echo(json.dumps([_values(context, entry) for entry in entries], ensure_ascii=False))
        return
    for entry in entries:
        click.echo(_text(entry))
    if not entries:
        click.echo(f"Nothing waits for an answer on PR #{pull.number}.")


@command.command("reply")
@click.argument("identity", metavar="ID")
@click.argument("text")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
def reply(identity: str, text: str, *, dry_run: bool) -> None:
    """Answer in the review thread ID; a review or comment is answered with a comment.

    \b
    Example:
      agent-sync review reply 3f9a1c "Fixed in the last commit."
    """
    context = context_here()
    claim, pull = _pull_here(context)
    entry = _entry(pull, identity)
    if not text.strip():
        raise BadInput("The answer is empty.", helps=f'agent-sync review reply {entry.id} "TEXT"')
    if dry_run:
        how = f"reply to thread {entry.id}" if entry.thread else f"answer {entry.id} with a comment"
        click.echo(f"would {how} on PR #{pull.number} (1 request)")
        return
    must_hold(context, claim, attempted="answering a reviewer")
    body = f"{text.strip()}\n\n{claim_marker(claim)}"
    with working("answering"):
        if entry.thread:
            context.gateway.reply(entry.thread.id, body)
        else:
            context.gateway.comment_on_pull(pull.id, body)
    click.echo(f"Answered {entry.id} on PR #{pull.number}.")


@command.command("resolve")
@click.argument("identity", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
def resolve(identity: str, *, dry_run: bool) -> None:
    """Mark the review thread ID as resolved.

    \b
    Example:
      agent-sync review resolve 3f9a1c
    """
    context = context_here()
    claim, pull = _pull_here(context)
    entry = _entry(pull, identity)
    if entry.thread is None:
        raise BadInput(f"{entry.id} is no thread: only threads can be resolved.", helps="agent-sync review list")
    if dry_run:
        click.echo(f"would mark thread {entry.id} on PR #{pull.number} as resolved (1 request)")
        return
    must_hold(context, claim, attempted="resolving a review thread")
    with working("resolving"):
        context.gateway.resolve_thread(entry.thread.id)
    click.echo(f"Resolved {entry.id} on PR #{pull.number}.")


def _pull_here(context: Context) -> tuple[Claim, Pull]:
    claim = claim_here(context)
    if claim.pr_number is None:
        raise WrongState(f"Issue #{claim.issue_number} has no pull request yet.", helps="agent-sync handoff")
    with working("reading the reviews"):
        return claim, context.gateway.pull(claim.pr_number, with_checks=False)


def _entries(pull: Pull) -> tuple[Entry, ...]:
    threads = (thread for thread in pull.conversation.threads if not thread.is_resolved)
    others = (remark for remark, thread in spoken(pull.conversation) if thread is None)
    return (
        *(Entry(thread.short_id, thread.remarks, thread) for thread in threads),
        *(Entry(short_id(remark.id), (remark,)) for remark in others),
    )


def _entry(pull: Pull, identity: str) -> Entry:
    resolved = (thread for thread in pull.conversation.threads if thread.is_resolved)
    known = (*_entries(pull), *(Entry(thread.short_id, thread.remarks, thread) for thread in resolved))
    found = next((entry for entry in known if entry.id == identity), None)
    if found is None:
        shown = one_line(identity, limit=40)
        raise NotFound(f"PR #{pull.number} has no review thread {shown}.", helps="agent-sync review list")
    return found


def _text(entry: Entry) -> str:
    thread = entry.thread
    where = ""
    if thread:
        line = f":{thread.line}" if thread.line else ""
        where = f"  {one_line(thread.path, limit=200)}{line}{'  (changed by a push)' if thread.is_outdated else ''}"
    said = (f"  {one_line(one.author, limit=40)}{one.label}:\n{fenced_prose(one.body)}" for one in entry.remarks)
    return "\n".join([f"{entry.id}{where}", *said])


def _values(context: Context, entry: Entry) -> dict[str, object]:
    thread, wake = entry.thread, Wake(context.settings.reviews.wake)
    return {
        "id": entry.id,
        "kind": "thread" if thread else "comment",
        "path": thread.path if thread else None,
        "line": thread.line if thread else None,
        "outdated": thread.is_outdated if thread else False,
        "wakes": any(is_heard(remark, wake) for remark in entry.remarks),
        "remarks": [
            {"author": one.author, "by": one.kind.value, "own": one.is_own, "body": one.body, "url": one.url}
            for one in entry.remarks
        ],
    }
