"""What a poll spends on loading: its most expensive imports, as the interpreter itself times them."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from support.step_costs import CostedRuns, whole_task

from agent_sync.demo.stage import Stage, stage

ROUNDS = 3
MOST = 10
POLLED = "idle that polls"
_LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|\s+(\S+)")


@dataclass(frozen=True)
class ImportCost:
    """One module: how long its own code took, and that with whatever it was the first to import."""

    module: str
    own_ms: float
    whole_ms: float


def most_expensive(rounds: int = ROUNDS, most: int = MOST) -> list[ImportCost]:
    """Return the imports of a poll whose own code takes longest, each at its best of some polls."""
    with stage() as scenery, tempfile.TemporaryDirectory(prefix="agent-sync-bench-") as name:
        runs = CostedRuns(scenery.root, scenery.environment, Path(name) / "runs")
        # Up to the first poll; backoff is off, so that each further one asks again.
        next(one for one in whole_task(scenery, runs) if one.step == POLLED)
        found = [timed_imports(scenery) for _ in range(rounds)]
    best = [min((one[module] for one in found if module in one), key=_own) for module in found[0]]
    return sorted(best, key=_own, reverse=True)[:most]


def timed_imports(scenery: Stage) -> Mapping[str, ImportCost]:
    """Poll once and return what each import took."""
    command = [sys.executable, "-X", "importtime", "-m", "agent_sync", "on-idle"]
    done = subprocess.run(
        command, cwd=scenery.root, env=scenery.environment, input="{}", capture_output=True, text=True, check=True
    )
    lines = filter(None, map(_LINE.match, done.stderr.splitlines()))
    costs = (ImportCost(line[3], int(line[1]) / 1000, int(line[2]) / 1000) for line in lines)
    return {one.module: one for one in costs}


def _own(cost: ImportCost) -> float:
    return cost.own_ms


def main() -> None:
    """Print them, each over the whole of what is loaded."""
    print(f"{'imports of a poll':44}own ms  with its own imports")
    for one in most_expensive():
        print(f"{one.module:44}{one.own_ms:6.1f}{one.whole_ms:10.1f}")


if __name__ == "__main__":
    main()
