"""Peak memory of hooks and commands, and of a watcher that sleeps, over a bare interpreter's."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from support.step_costs import gate_run, whole_task

from agent_sync.demo.stage import Stage, stage
from benchmarks.figures import Row, Unit
from benchmarks.quiet import SETTLED_S
from benchmarks.recorded import RIVAL, SCRIPT
from benchmarks.turns import AGENT_SYNC, BARE, Effort, run

SECTION = "Peak memory"
BARE_NAME, WATCHER = "python -c pass", "sleeping watcher"
# Steps of the task, in the order in which they are shown.
SHOWN = ("stop while coding", "quiet stop", "session start", "idle that polls", "gate run", "status", "doctor", WATCHER)
QUIET = ("quiet stop", WATCHER)
AT_MOST = 1.3
PATIENCE_S = 60.0
# A process's peak includes what its parent had when it was started, so a small parent starts it and reads the peak.
_MEASURED = """
import os, sys
silence = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=silence)
used = os.wait4(process, 0)[2].ru_maxrss
print(used / (1024 * 1024 if sys.platform == "darwin" else 1024))
"""


@dataclass(frozen=True)
class WeighedRuns:
    """Runs each step and reads its peak memory, that of git or a gate included where it is larger."""

    stage: Stage

    @property
    def root(self) -> Path:
        """Where the steps run."""
        return self.stage.root

    def run(self, step: str, *arguments: str, stdin: str = "{}", **variables: str) -> tuple[str, float]:
        """Return the megabytes of one step."""
        return step, self.megabytes([AGENT_SYNC, *arguments], stdin, **variables)

    def megabytes(self, command: list[str], stdin: str = "{}", **variables: str) -> float:
        """Return the peak of any command."""
        line = [*BARE[:2], _MEASURED, *command]
        return float(run(*line, cwd=self.root, environment=self.stage.environment | variables, stdin=stdin))


def memory_rows(_scratch: Path, effort: Effort) -> list[Row]:
    """Play tasks, and return the median of each step's peak."""
    rounds = [_played() for _ in range(effort.memory)]
    found = {name: median(one[name] for one in rounds) for name in (BARE_NAME, *SHOWN) if name in rounds[0]}
    bare = found.pop(BARE_NAME)
    return [
        Row(SECTION, BARE_NAME, Unit.MEGABYTES, ("",), (bare,)),
        *(_row(name, peak / bare) for name, peak in found.items()),
    ]


def _row(name: str, value: float) -> Row:
    script, rival = (SCRIPT.one("memory", name),), (RIVAL.one("memory", name),)
    limit = (AT_MOST if name in QUIET else None,)
    return Row(SECTION, name, Unit.BARE, ("",), (value,), script=script, rival=rival, at_most=limit)


def _played() -> dict[str, float]:
    found: dict[str, float] = {}
    with stage(with_gate=True) as scenery:
        found |= dict([gate_run(scenery, WeighedRuns(scenery))])
    with stage() as scenery:
        runs = WeighedRuns(scenery)
        found[BARE_NAME] = runs.megabytes(list(BARE))
        for step, peak in whole_task(scenery, runs):
            found[step] = peak
            if step == "stop while coding":
                found["quiet stop"] = _quiet(runs)
            if step == "idle that polls" and Path("/proc/self/status").exists():
                found[WATCHER] = _asleep(scenery)
        found |= dict([runs.run("doctor", "doctor", stdin="")])
    return found


def _quiet(runs: WeighedRuns) -> float:
    """Return the peak of a stop after one that has left its stamp."""
    time.sleep(SETTLED_S)
    runs.run("quiet stop", "on-stop")
    time.sleep(SETTLED_S)
    return runs.run("quiet stop", "on-stop")[1]


def _asleep(scenery: Stage) -> float:
    """Return what a watcher of an open pull request has resident between two looks."""
    with _watcher(scenery) as process:
        give_up = time.monotonic() + PATIENCE_S
        while b"asleep.py" not in Path(f"/proc/{process.pid}/cmdline").read_bytes():
            if time.monotonic() > give_up:
                raise SystemExit("the watcher does not fall asleep")
            time.sleep(0.05)
        time.sleep(0.3)
        lines = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


@contextmanager
def _watcher(scenery: Stage) -> Iterator[subprocess.Popen[bytes]]:
    environment = scenery.environment | {"AGENT_SYNC_CHECKS_BACKOFF_S": "120"}
    process = subprocess.Popen(
        [AGENT_SYNC, "on-idle", "--rewake"],
        cwd=scenery.root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    if process.stdin:
        process.stdin.write(b"{}")
        process.stdin.close()
    yield process
    process.terminate()
    process.wait()
