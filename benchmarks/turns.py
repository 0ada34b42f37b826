"""Running commands in turns, each timed from outside, so that a busy machine is busy for all of them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

AGENT_SYNC = str(Path(sys.executable).with_name("agent-sync"))
BARE = (sys.executable, "-c", "pass")


@dataclass(frozen=True)
class Effort:
    """How much is measured: rounds of each kind, and whether the largest sizes are left out."""

    quiet: int = 40
    steps: int = 7
    gates: int = 7
    growth: int = 5
    memory: int = 3
    is_quick: bool = False

    def sizes(self, *sizes: int) -> tuple[int, ...]:
        """Return the sizes to measure: all, or all but the largest."""
        return sizes[:-1] if self.is_quick else sizes


QUICK = Effort(quiet=10, steps=2, gates=2, growth=2, memory=1, is_quick=True)


def in_turns(cases: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Run the cases in turns, the order swapped every round, and return what each took."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds):
        for name in swapped(list(cases), number):
            times[name].append(cases[name]())
    return times


def swapped(order: list[str], number: int) -> list[str]:
    """Return the order of one round: every other one is the other way round."""
    return order[::-1] if number % 2 else order


def seconds(command: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: str = "{}") -> float:
    """Time one run of a command that must succeed, from outside."""
    began = time.perf_counter()
    subprocess.run(command, cwd=cwd, env=environment, input=stdin.encode(), capture_output=True, check=True)
    return time.perf_counter() - began


def run(*command: str | Path, cwd: Path, environment: Mapping[str, str], stdin: str = "") -> str:
    """Run a command that must succeed, and return what it printed."""
    line = [str(part) for part in command]
    return subprocess.run(
        line, cwd=cwd, env=environment, input=stdin, capture_output=True, text=True, check=True
    ).stdout


def plain_environment(home: Path) -> dict[str, str]:
    """Return what programs need to start, with a home of their own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    people = {f"GIT_{role}_{key}": "bench" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    return kept | people | {"HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
