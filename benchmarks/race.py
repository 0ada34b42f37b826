"""Agents in clones of their own that all run `claim --next` at the same moment, beside one that runs it alone."""

import subprocess
import time
from pathlib import Path
from statistics import median

from benchmarks.figures import Row, Unit
from benchmarks.turns import AGENT_SYNC, Effort
from benchmarks.worlds import World, world

SECTION = "Agents that claim the next task at once"
RACERS = (1, 5, 10, 20)
# A request to GitHub takes about as long; without any, racers on one machine only wait for its processors.
LATENCY_MS = 300
MOST_TIMES, MOST_LOST, MOST_GIT = 5.0, 3.0, 15.0


def race_rows(scratch: Path, effort: Effort) -> list[Row]:
    """Let more and more agents race, twice as many issues being ready; return time, lost races and requests."""
    found = [_races(scratch / str(count), count, effort.memory) for count in RACERS]
    alone = found[0][0]
    points = tuple(str(count) for count in RACERS)
    times, lost, asked = zip(*found, strict=True)
    last = tuple(took / alone for took in times)
    limits = [(None, None, None, most) for most in (MOST_TIMES, MOST_LOST, MOST_GIT)]
    return [
        Row(SECTION, "the last one is done", Unit.ALONE, points, last, at_most=limits[0]),
        Row(SECTION, "lost races a claim", Unit.COUNT, points, tuple(lost), at_most=limits[1]),
        Row(SECTION, "git requests a claim", Unit.COUNT, points, tuple(asked), at_most=limits[2]),
    ]


def _races(scratch: Path, count: int, rounds: int) -> tuple[float, float, float]:
    """Return the medians of some races: seconds until the last one is done, lost races and git requests a claim."""
    scratch.mkdir()
    races = [_race(scratch / str(number), count) for number in range(rounds)]
    took, lost, asked = (median(values) for values in zip(*races, strict=True))
    return took, lost, asked


def _race(directory: Path, count: int) -> tuple[float, float, float]:
    with world(directory) as made:
        for _ in range(2 * count):
            made.issue()
        roots = [_clone(made, number) for number in range(count)]
        made.stage.control("POST", "latency", {"ms": LATENCY_MS})
        made.stage.control("DELETE", "requests")
        began = time.perf_counter()
        command = [AGENT_SYNC, "claim", "--next"]
        silence = subprocess.DEVNULL
        racers = [
            subprocess.Popen(command, cwd=root, env=made.stage.environment, stdout=silence, stderr=silence)
            for root in roots
        ]
        endings = [racer.wait() for racer in racers]
        took = time.perf_counter() - began
        if any(endings):
            raise SystemExit("a racer got no task")
        asked = made.stage.control("GET", "requests?git=1")
    tasks = sum(one["operation"] == "Task" for one in asked)
    return took, (tasks - count) / count, sum(".git/" in one["path"] for one in asked) / count


def _clone(made: World, number: int) -> Path:
    root = made.stage.root.with_name(f"racer-{number}")
    made.git("clone", "--quiet", f"{made.stage.url}/octo/demo.git", str(root))
    return root
