"""Reads the ledger: one fetch for the histories, and one question to GitHub for each convoy."""

from collections.abc import Iterator

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.claim_refs import transport_here
from agent_sync.task.decision.tasks import Convoy
from agent_sync.work.hook.reading import MOST_COMMITS, history, look
from agent_sync.work.ledger_rows import (
    LedgerKind,
    LedgerRow,
    convoy_rows,
    cut_histories,
    evidence_rows,
    task_rows,
    unreadable_commits,
)


@dataclass(frozen=True)
class Ledger:
    """Rows of one kind, and what their reader must know."""

    rows: tuple[LedgerRow, ...]
    notes: tuple[str, ...] = ()


def read_ledger(context: Context, kind: LedgerKind) -> Ledger:
    """Return every row of one kind that the histories of all hooks hold."""
    transport = transport_here(context)
    view = look(transport, context.settings.lease.allowance_s)
    commits = history(transport)
    notes = [*view.notes]
    notes += [f"commit {one.sha[:12]} of {one.worker} cannot be read" for one in unreadable_commits(commits)]
    notes += [
        f"the history of {one.worker} before {one.at[:16]} is left out: it is longer than {MOST_COMMITS} steps"
        for one in cut_histories(commits)
    ]
    match kind:
        case LedgerKind.TASKS:
            return Ledger(tuple(task_rows(commits)), tuple(notes))
        case LedgerKind.EVIDENCE:
            return Ledger(tuple(evidence_rows(commits)), tuple(notes))
        case LedgerKind.CONVOYS:
            tasks = task_rows(commits)
            known = list(_convoys(context, tasks, notes))
            return Ledger(tuple(convoy_rows(tasks, known)), tuple(notes))


def convoys_now(context: Context, tasks: list[LedgerRow]) -> list[LedgerRow] | None:
    """Return the convoys of some tasks as GitHub has them now; None where it could not be asked for all of them."""
    trouble: list[str] = []
    known = list(_convoys(context, tasks, trouble))
    return None if trouble else convoy_rows(tasks, known)


def _convoys(context: Context, tasks: list[LedgerRow], notes: list[str]) -> Iterator[Convoy]:
    """Ask GitHub for every convoy a task belongs to; one that cannot be read is told as far as its tasks tell."""
    for name in sorted({str(row["convoy"]) for row in tasks if row.get("convoy")}):
        number = name.removeprefix("convoy-")
        if not number.isdecimal():
            continue
        try:
            yield context.gateway.convoy(int(number))
        except AgentSyncError as error:
            notes.append(f"{name} could not be read: {error.happened}")
