"""Reads the ledger: one fetch for the histories, and one question to GitHub for each convoy."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.system import clock
from agent_sync.task.decision.tasks import Convoy
from agent_sync.work.hook.reading import history, look
from agent_sync.work.hook.shelf import shelf_for
from agent_sync.work.ledger import Kind, Row, convoy_rows, damaged, evidence_rows, task_rows


@dataclass(frozen=True)
class Ledger:
    """Rows of one kind, and what their reader must know."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def ledger(context: Context, kind: Kind) -> Ledger:
    """Return every row of one kind that the histories of all hooks hold."""
    shelf = shelf_for(context, clock.now())
    sight = look(shelf)
    entries = history(shelf)
    notes = [*sight.notes]
    notes += [f"commit {entry.sha[:12]} of {entry.worker} cannot be read" for entry in damaged(entries)]
    match kind:
        case Kind.TASKS:
            return Ledger(tuple(task_rows(entries)), tuple(notes))
        case Kind.EVIDENCE:
            return Ledger(tuple(evidence_rows(entries)), tuple(notes))
        case Kind.CONVOYS:
            tasks = task_rows(entries)
            known = list(_convoys(context, tasks, notes))
            return Ledger(tuple(convoy_rows(tasks, known)), tuple(notes))


def _convoys(context: Context, tasks: list[Row], notes: list[str]) -> Iterator[Convoy]:
    """Ask GitHub for every convoy a task belongs to; one that cannot be read is told as far as its tasks tell."""
    for name in sorted({str(row["convoy"]) for row in tasks if row.get("convoy")}):
        number = name.removeprefix("convoy-")
        if not number.isdecimal():
            continue
        try:
            yield context.gateway.convoy(int(number))
        except AgentSyncError as error:
            notes.append(f"{name} could not be read: {error.happened}")
