"""Prints the view of a fleet: four lanes with their counts, as plain lines or for a terminal."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from agent_sync.fleet.view import LANE_NAMES, FleetTask, FleetView, Lane
from agent_sync.leases.words import MINUTE, span

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

GLYPHS = {Lane.NEEDS_YOU: "!", Lane.WORKING: "▸", Lane.WAITING: "…", Lane.READY: "○"}
# The sixteen names of a terminal: its own theme knows its background.
STYLES = {Lane.NEEDS_YOU: "bold yellow", Lane.WORKING: "blue", Lane.WAITING: "magenta", Lane.READY: "green"}
SEPARATOR = " · "
NO_CI = "-"


def plain_lines(view: FleetView, now: datetime) -> Iterator[str]:
    """Return the lanes for a pipe: one line for each task, with its number, its CI and the command that moves it."""
    for lane in Lane:
        tasks = view.lane(lane)
        yield f"{LANE_NAMES[lane]} ({len(tasks)})"
        yield from (plain_line(task, now) for task in tasks)
        if not tasks:
            yield f"  {nothing_in(lane, view)}"
    yield from foot_lines(view)


def plain_line(task: FleetTask, now: datetime) -> str:
    """Return one task as one line."""
    parts = (_name(task), task.reason, f"CI {task.ci or NO_CI}", task.review, age(task, now), _pull(task), _where(task))
    return SEPARATOR.join(part for part in (*parts, f"next: {task.next_command}") if part)


def drawn(view: FleetView, now: datetime) -> "Group":
    """Return the lanes for a terminal; every text is cleaned already, and none of it is markup."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Text] = []
    for lane in Lane:
        tasks = view.lane(lane)
        parts.append(Text(f"{LANE_NAMES[lane]} ({len(tasks)})", style=STYLES[lane]))
        for task in tasks:
            parts += _drawn_task(task, now)
        if not tasks:
            parts.append(Text(f"  {nothing_in(lane, view)}", style="dim"))
    return Group(*parts, *(Text(line, style="dim") for line in foot_lines(view)))


def _drawn_task(task: FleetTask, now: datetime) -> "Iterator[Text]":
    from rich.text import Text

    glyph, command = (f"{GLYPHS[task.lane]} ", STYLES[task.lane]), (task.next_command, "cyan")
    first = (glyph, (_name(task), "bold"), "  ", task.reason, "  ")
    if task.lane is Lane.READY:
        yield Text.assemble(*first, command)
        return
    ci = f"CI {task.ci}" if task.ci else ""
    facts = SEPARATOR.join(part for part in (_pull(task), ci, task.review, _where(task)) if part)
    yield Text.assemble(*first, (age(task, now), "dim"))
    yield Text.assemble("    ", (facts, "dim"), "  " if facts else "", command)


def head_line(view: FleetView) -> str:
    """Return what the fleet is, how many wait for the reader, and how fresh that is."""
    needed = view.counts[Lane.NEEDS_YOU]
    waits = f"{needed} need{'s' if needed == 1 else ''} you" if needed else ""
    looked = f"looked at {view.looked_at.astimezone():%H:%M:%S}"
    return SEPARATOR.join(part for part in (view.repository, waits, looked) if part)


def foot_lines(view: FleetView) -> Iterator[str]:
    """Return what is said below the lanes: the rest of the board, finished work, and why the view may be old."""
    if view.board_note and view.counts[Lane.READY]:
        yield view.board_note
    if view.finished_today:
        yield f"{view.finished_today} finished today."
    if view.paused_until:
        yield f"Paused until {view.paused_until.astimezone():%H:%M:%S}: GitHub's limit."
    if view.stale_reason:
        yield f"Not up to date: {view.stale_reason}"


def nothing_in(lane: Lane, view: FleetView) -> str:
    """Return what an empty lane says: one sentence, and one command where one helps."""
    counts = view.counts
    match lane:
        case Lane.NEEDS_YOU:
            working = counts[Lane.WORKING]
            agents = f" {working} agent{'s are' if working > 1 else ' is'} working." if working else ""
            return f"Nothing needs you.{agents}"
        case Lane.WORKING:
            start = " Start one: agent-sync claim --next" if counts[Lane.READY] else ""
            return f"No agent is working.{start}"
        case Lane.WAITING:
            return "Nothing waits."
        case Lane.READY if view.stale_reason or view.paused_until:
            return "What is ready is not known."
        case Lane.READY:
            return " ".join(filter(None, ["No issue is ready.", view.board_note]))


def age(task: FleetTask, now: datetime) -> str:
    """Return how long a task has been in its situation, in one unit; nothing where that is not known."""
    if task.since is None or task.lane is Lane.READY:
        return ""
    seconds = (now - task.since).total_seconds()
    return "just now" if seconds < MINUTE else span(seconds)


def _name(task: FleetTask) -> str:
    return f"#{task.issue} {task.title}".rstrip() if task.issue else f"? {task.worktree}"


def _pull(task: FleetTask) -> str:
    return f"PR #{task.pull.number}" if task.pull else ""


def _where(task: FleetTask) -> str:
    return task.name
