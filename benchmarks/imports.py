"""What a look at an open pull request loads, and which packages take the most of that time."""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

from support.step_costs import whole_task

from agent_sync.demo.stage import Stage, stage
from benchmarks.figures import Row, Unit
from benchmarks.memory import WeighedRuns
from benchmarks.turns import Effort

SECTION = "Loading of a poll, by package (-X importtime, self time)"
SHOWN = 10
_LINE = re.compile(r"^import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)$", re.MULTILINE)


def import_rows(_scratch: Path, effort: Effort) -> list[Row]:
    """Poll some times and return the packages that took the largest shares."""
    with stage() as scenery:
        for step, _ in whole_task(scenery, WeighedRuns(scenery)):
            if step == "stop that opens the pull request":
                break
        rounds = [self_times(_polled(scenery)) for _ in range(effort.steps)]
    shares = {name: median(one.get(name, 0) / sum(one.values()) for one in rounds) for name in rounds[-1]}
    largest = sorted(shares, key=shares.__getitem__, reverse=True)[:SHOWN]
    return [Row(SECTION, name, Unit.PERCENT, ("",), (100 * shares[name],)) for name in largest]


def self_times(trace: str) -> dict[str, int]:
    """Add up the microseconds of each top package; the interpreter's own modules are one."""
    found: dict[str, int] = defaultdict(int)
    for microseconds, module in _LINE.findall(trace):
        package = module.partition(".")[0]
        found["the standard library" if package in sys.stdlib_module_names else package] += int(microseconds)
    return dict(found)


def _polled(scenery: Stage) -> str:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "agent_sync", "on-idle"],
        cwd=scenery.root, env=scenery.environment, input=b"{}", capture_output=True, check=True,
    )  # fmt: skip
    return done.stderr.decode()
