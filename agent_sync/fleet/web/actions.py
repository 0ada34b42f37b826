"""What `agent-sync ui --actions` does for a person: the commands they would type, run in the task's worktree."""

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from agent_sync.fleet.view import FleetTask, Lane
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.decision.outside_text import one_line

LONGEST_S = 600
MOST_OUTPUT = 4_000


@dataclass(frozen=True)
class TaskAction:
    """One button: what it says, what it asks before it acts, and the command it runs."""

    name: str
    question: str
    arguments: tuple[str, ...]


def actions_for(task: FleetTask) -> tuple[TaskAction, ...]:
    """Return what a person may do with a task from the page; only what its command would accept."""
    number, found = str(task.issue), []
    situation = type(task.situation).__name__ if task.situation else ""
    if task.worktree and situation == "AwaitingConsent":
        found.append(TaskAction("done", f"Close issue #{number}?", ("done", "--now")))
    if task.worktree and situation == "Withheld":
        found.append(TaskAction("retry gate", f"Run the gates of #{number} again?", ("gate", "run")))
    if task.worktree and task.lane is not Lane.READY:
        found.append(
            TaskAction("release", f"Give issue #{number} back?", ("release", "--reason", "from the fleet page"))
        )
    if not task.worktree and task.lane is Lane.NEEDS_YOU:
        found.append(TaskAction("take over", f"Take #{number} over here?", ("claim", number, "--take-over", "--yes")))
    return tuple(found)


def run_action(action: TaskAction, directory: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Run the command of a button in its worktree; return its exit code and what it printed."""
    # -P: a module of the checkout must not stand for one of ours.
    command = [sys.executable, "-P", "-m", "agent_sync", *action.arguments]
    done = subprocess.run(
        command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=LONGEST_S,
    )  # fmt: skip
    lines = [one_line(line, limit=300) for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
    return {"exit_code": done.returncode, "printed": "\n".join(lines)[-MOST_OUTPUT:]}
