"""Prints what each step of a task costs: modules, git processes, fsyncs, requests, CPU over a bare interpreter."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support.step_costs import CostedRuns, StepCosts, children_cpu, whole_task

from agent_sync.demo.stage import stage

ROUNDS = 3
BARE = 10


def bare_cpu() -> float:
    """Return the CPU of an interpreter that does nothing: the best of some runs."""
    taken = []
    for _ in range(BARE):
        before = children_cpu()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        taken.append(children_cpu() - before)
    return min(taken)


def played(directory: Path, *, with_gate: bool) -> dict[str, tuple[StepCosts, float, int]]:
    """Play one task; return each step's costs, its CPU over the bare interpreter's, and its requests."""
    found = {}
    with stage(with_gate=with_gate) as scenery:
        runs = CostedRuns(scenery.root, scenery.environment, directory)
        bare = bare_cpu()
        scenery.control("DELETE", "requests")
        for costs in whole_task(scenery, runs):
            asked = len(scenery.control("GET", "requests?git=1"))
            found[costs.step] = (costs, costs.cpu_s / bare, asked)
            time.sleep(0.05)
            scenery.control("DELETE", "requests")
    return found


def print_table(title: str, *, with_gate: bool) -> None:
    """Play the task some times and print the counts of the last and the median of the ratios."""
    with tempfile.TemporaryDirectory(prefix="agent-sync-bench-") as name:
        rounds = [played(Path(name) / str(number), with_gate=with_gate) for number in range(ROUNDS)]
    print(f"{title:38}modules   git  fsync  requests   CPU over a bare interpreter")
    for step, (costs, _, asked) in rounds[-1].items():
        ratio = statistics.median(one[step][1] for one in rounds)
        print(f"{step:38}{len(costs.modules):7}{len(costs.git):6}{costs.fsyncs:7}{asked:10}{ratio:10.1f}")


def main() -> None:
    """Print both tables."""
    print_table("a task without a gate", with_gate=False)
    print_table("a task with a gate", with_gate=True)


main()
