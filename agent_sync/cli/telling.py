"""Tells people how a task stands and what comes next, in the same words for every command."""

import dataclasses
from collections.abc import Iterator
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from agent_sync.cli.ending import say
from agent_sync.context import Context
from agent_sync.gates.pull import pull_gate_root
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.feedback.checks import CI
from agent_sync.task.decision.next_step import WATCH, next_step
from agent_sync.task.decision.outside_text import one_line, quoted
from agent_sync.task.decision.situation import checks_known
from agent_sync.task.decision.situations import Situation


def next_line(stands: Situation, *, instead_of_watch: str = "") -> str:
    """Return what a person types next; whoever watches already, or cannot, is told so and not to watch."""
    step = next_step(stands)
    if instead_of_watch and step.command == WATCH:
        return instead_of_watch
    return f"Next: {step.command}" if step.command else "Next: nothing to type"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the right form."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def situation_values(stands: Situation) -> dict[str, Any]:
    """Return a situation for programs: its name, what makes it true, and what comes next."""
    values = {field.name: _plain(getattr(stands, field.name)) for field in dataclasses.fields(stands)}
    step = next_step(stands)
    return {"name": type(stands).__name__, **values, "sentence": step.sentence, "command": step.command}


def state_lines(context: Context, claim: Claim) -> Iterator[str]:
    """Return how CI, reviews and gates stand, as the last look found them."""
    if claim.pr_number:
        yield _line("CI", _ci(claim))
        yield _line("reviews", _reviews(claim))
    gates = _gates(context)
    if gates:
        yield _line("gates", gates)


def _line(name: str, says: str) -> str:
    return f"  {name:<13} {says}"


def _ci(claim: Claim) -> str:
    seen = checks_known(claim, None)
    if seen is None or not seen.total:
        return seen.ci.value if seen else CI.NONE.value
    names = ", ".join(quoted(name, limit=60) for name in seen.failed or seen.missing)
    return f"{seen.ci.value}, {seen.passed}/{seen.total} passed" + (f": {names}" if names else "")


def _reviews(claim: Claim) -> str:
    seen = claim.feedback
    people = ", ".join(quoted(name, limit=60) for name in seen.changes_requested_by) if seen else ""
    conflict = ["the branch conflicts with its base"] if seen and seen.is_conflicting else []
    waiting = seen.threads if seen else 0
    threads = [f"{counted(waiting, 'review thread')} need{'s' if waiting == 1 else ''} a reply"] if waiting else []
    return "; ".join([f"changes requested by {people}" if people else "no changes requested", *threads, *conflict])


def _gates(context: Context) -> str:
    """Return how the last run of the gates ended; nothing where none are configured."""
    root = pull_gate_root(context)
    if root is None:
        return ""
    from agent_sync.gates.config.stop_settings import stop_settings
    from agent_sync.gates.memory import state as states

    last = states.read(Path(stop_settings(context.place, Path(root), context.environment).log_dir))
    return one_line(last.status) if last and last.status else "not run yet"


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, Enum) else value


def tell_partly(happened: str, trouble: str, *, helps: str) -> None:
    """Print what GitHub did not take: one line for each cause, and one step."""
    causes = [line.partition(" Try: ") for line in trouble.splitlines()]
    for cause in dict.fromkeys(said for said, _, _ in causes):
        say(f"{happened}: {cause}", is_note=True)
    # An outage passes: what is left then is done by the command that is named.
    steps = dict.fromkeys(step for _, _, step in causes if step and not step.startswith("run the same command"))
    say(f"  try: {'; '.join(steps) or helps}", is_note=True)
