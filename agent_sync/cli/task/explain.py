"""`agent-sync explain`: why a task does not move."""

import dataclasses
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import click

from agent_sync.cli.console import working
from agent_sync.cli.here import claim_here, context_here, for_reader
from agent_sync.cli.issue_numbers import issue_number
from agent_sync.cli.telling import situation_values
from agent_sync.errors import BadInput
from agent_sync.reconcile.difference import Remedy
from agent_sync.reconcile.explaining import explain_claim, explain_issue
from agent_sync.reconcile.explanation import Explanation
from agent_sync.task.decision.outside_text import one_line

_EXAMPLE = "agent-sync explain 42"


@click.command("explain")
@click.argument("issue", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(issue: str | None, *, as_json: bool) -> None:
    """Say why a task does not move: what it waits for, who must act, what happens next and when.

    Without ISSUE it is this worktree's task. Of an issue that is held elsewhere, or by nobody, its claim ref and GitHub
    are asked. Everything that was looked at is listed; --json also has the lines of the log. Nothing is written.

    \b
    Examples:
      agent-sync explain
      agent-sync explain 42 --json | jq -r .waits_for
    """
    context = context_here(keeps_record=False)
    number = issue_number(issue or "", helps=_EXAMPLE)
    if issue and number is None:
        raise BadInput(f"{one_line(issue)!r} is not the number of an issue.", helps=_EXAMPLE)
    claim = context.store.read() if number else claim_here(context)
    with working("looking"):
        is_here = claim is not None and number in {None, claim.issue_number}
        found = explain_claim(context, claim) if claim and is_here else explain_issue(context, number or 0)
    if as_json:
        click.echo(json.dumps(_values(found), ensure_ascii=False))
        return
    for line in _lines(found):
        click.echo(for_reader(context, line))


def _lines(found: Explanation) -> Iterator[str]:
    yield f"Issue #{found.issue} waits: {found.waits_for}"
    yield f"Who acts: {found.who}"
    yield found.step.sentence
    yield "What happens next:"
    yield from (f"  {_at(one.at)}  {one.what}" for one in found.upcoming)
    if not found.upcoming:
        yield f"  nothing by itself; it is up to {found.who}"
    yield "What was looked at:"
    yield from (f"  {_at(one.at)}  {one.what}: {one.found}" for one in found.looked_at)
    # A lease that is due for renewal is ordinary.
    disagrees = [one for one in found.differences if one.remedy is not Remedy.RENEW]
    if disagrees:
        yield "What disagrees (`agent-sync reconcile` repairs what is agent-sync's own):"
        yield from (f"  {one.side.value:<13} {one.says}" for one in disagrees)
    if found.log:
        yield "What was done: agent-sync log"
    yield f"Next: {found.step.command}" if found.step.command else "Next: nothing to type"


def _at(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _values(found: Explanation) -> dict[str, Any]:
    return {
        "issue": found.issue,
        "situation": situation_values(found.stands) if found.stands else None,
        "waits_for": found.waits_for,
        "who": found.who,
        "sentence": found.step.sentence,
        "next": found.step.command,
        "upcoming": [{"at": one.at.isoformat(), "what": one.what} for one in found.upcoming],
        "looked_at": [{"what": one.what, "at": one.at.isoformat(), "found": one.found} for one in found.looked_at],
        "differences": [dataclasses.asdict(one) for one in found.differences],
        "log": list(found.log),
    }
