"""Shows a fleet and what was repaired as Markdown, pure; whatever others wrote stands in code, which it cannot end."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent_sync.fleet.view import LANE_NAMES, FleetTask, FleetView, Lane
from agent_sync.task.decision.outside_text import code

# GitHub takes 1 MiB for the summary of a step, and drops a longer one whole.
LARGEST_SUMMARY = 1_000_000
# GitHub takes 65,536 characters for an issue.
LARGEST_ISSUE = 60_000
# Kept free for headings and the lines that say what was cut.
_RESERVE = 4_000
_LARGEST_REPAIRS = 100_000
_SEPARATOR = " · "


def fleet_text(view: FleetView, address: str, *, largest: int) -> str:
    """Return the four lanes, each with its count, as many tasks as fit; of the others how many there are."""
    left, lines = largest - _RESERVE, list[str]()
    for lane in Lane:
        tasks = view.lane(lane)
        shown = _fitting([_task_line(task, address) for task in tasks], left)
        left -= sum(_size(line) for line in shown)
        lines += [f"### {LANE_NAMES[lane]} ({len(tasks)})", "", *shown, *_cut(len(tasks) - len(shown)), ""]
    return "\n".join([*lines, *_foot(view)]).rstrip() + "\n"


def repairs_text(values: Mapping[str, Any], address: str) -> str:
    """Return what `agent-sync reconcile --all --json` found, and what became of it."""
    found = values["differences"]
    lines = [f"- {_issue_link(one['issue'], address)} {code(_said(one), limit=400)}" for one in found]
    shown = _fitting(lines, _LARGEST_REPAIRS)
    how = "compared, nothing written (dry run)" if values["dry_run"] else "compared"
    head = f"{values['claims']} claims {how}; {len(found)} differences; {values['requests']} requests."
    reason = [f"Not everything could be compared: {code(values['reason'], limit=300)}"] if values["reason"] else []
    return "\n".join([head, "", *shown, *_cut(len(lines) - len(shown)), *reason]).rstrip() + "\n"


def _said(one: Mapping[str, Any]) -> str:
    return f"{one['says']} — {one['outcome']}"


def _task_line(task: FleetTask, address: str) -> str:
    name = _issue_link(task.issue, address) if task.issue else "?"
    since = f"since {task.since:%Y-%m-%d %H:%M} UTC" if task.since else ""
    pull = f"PR [#{task.pull.number}]({address}/pull/{task.pull.number})" if task.pull else ""
    ci, agent = f"CI {code(task.ci)}" if task.ci else "", code(task.name) if task.name else ""
    facts = (code(task.reason), pull, ci, task.review, agent, since, code(task.next_command))
    return f"- {name} {code(task.title)}: {_SEPARATOR.join(part for part in facts if part)}"


def _issue_link(issue: int, address: str) -> str:
    return f"[#{issue}]({address}/issues/{issue})"


def _foot(view: FleetView) -> Iterator[str]:
    if view.board_note:
        yield f"{code(view.board_note)}\n"
    if view.finished_today:
        yield f"{view.finished_today} finished today.\n"
    if view.stale_reason:
        yield f"Not up to date: {code(view.stale_reason, limit=300)}\n"


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    """Return as many of the first lines as fit."""
    for place, line in enumerate(lines):
        room -= _size(line)
        if room < 0:
            return list(lines[:place])
    return list(lines)


def _size(line: str) -> int:
    return len(line.encode()) + 1


def _cut(number: int) -> list[str]:
    return (
        [f"- … and {number} more, left out for GitHub's limit: `agent-sync status --all` lists them"] if number else []
    )
