"""Plays a whole task, every step a fresh interpreter, and counts what each costs: modules, git processes, fsyncs, CPU."""

import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from agent_sync.demo.stage import Stage

T_co = TypeVar("T_co", covariant=True)

# Notes what the process has loaded and flushed to disk when it ends, whichever way it ends.
_WATCHED_RUN = """
import os, sys
leave, sync, flushed = os._exit, os.fsync, []
def counted(descriptor):
    flushed.append(descriptor)
    return sync(descriptor)
def note(status):
    with open(os.environ["COSTS_FILE"], "w") as file:
        file.write("\\n".join([str(len(flushed)), *sys.modules]))
    leave(status)
os.fsync, os._exit = counted, note
from agent_sync.__main__ import main
try:
    main()
except SystemExit as end:
    sys.stdout.flush()
    sys.stderr.flush()
    note(end.code if isinstance(end.code, int) else int(end.code is not None))
note(0)
"""
_COUNTING_GIT = """#!/bin/sh
printf '%s\\n' "$*" >>"$GIT_CALLS_FILE"
exec {git} "$@"
"""


@dataclass(frozen=True)
class StepCosts:
    """What one command or hook has cost; CPU includes the processes it waited for."""

    step: str
    modules: tuple[str, ...]
    git: tuple[str, ...]
    fsyncs: int
    cpu_s: float
    status: int
    output: str


class CostedRuns:
    """Runs commands in one place and counts their costs."""

    def __init__(self, root: Path, environment: Mapping[str, str], scratch: Path) -> None:
        self.root = root
        self._scratch = scratch
        self._environment = dict(environment) | {
            "PATH": f"{with_counting_git(scratch)}:{environment['PATH']}",
            "COSTS_FILE": str(scratch / "costs"),
            "GIT_CALLS_FILE": str(scratch / "git-calls"),
        }

    def run(self, step: str, *arguments: str, stdin: str = "{}", **variables: str) -> StepCosts:
        """Run one command as a process of its own."""
        calls, costs = self._scratch / "git-calls", self._scratch / "costs"
        calls.write_text("")
        costs.unlink(missing_ok=True)
        before = children_cpu()
        done = subprocess.run(
            [sys.executable, "-c", _WATCHED_RUN, *arguments],
            cwd=self.root, env=self._environment | variables, input=stdin, capture_output=True, text=True, check=False,
        )  # fmt: skip
        cpu = children_cpu() - before
        fsyncs, *modules = costs.read_text().splitlines()
        git = tuple(calls.read_text().splitlines())
        return StepCosts(step, tuple(modules), git, int(fsyncs), cpu, done.returncode, done.stdout + done.stderr)


def with_counting_git(scratch: Path) -> Path:
    """Make a git that notes in GIT_CALLS_FILE what it was asked, and return the directory it is in."""
    directory = scratch / "bin"
    directory.mkdir(parents=True)
    file = directory / "git"
    file.write_text(_COUNTING_GIT.format(git=shutil.which("git")))
    file.chmod(0o755)
    return directory


def children_cpu() -> float:
    """Return the CPU seconds of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Runs(Protocol[T_co]):
    """What plays the steps of a task, one process each, and finds something out about each."""

    @property
    def root(self) -> Path:
        """Where the steps run."""

    def run(self, step: str, *arguments: str, stdin: str = "{}", **variables: str) -> T_co:
        """Run one step."""


@dataclass(frozen=True)
class Asked:
    """The requests of one step, as the local GitHub counted them."""

    api: int
    git: int


# The requests of each step, at most; `make bench` shows them beside what a script made.
MOST_REQUESTS = {
    "session start": Asked(1, 2),
    "stop without a claim": Asked(0, 0),
    "claim": Asked(2, 4),
    "stop while coding": Asked(0, 0),
    "prompt while coding": Asked(0, 0),
    "tool while coding": Asked(0, 0),
    "session start with a claim": Asked(1, 4),
    "stop after a commit": Asked(0, 0),
    "handoff": Asked(0, 2),
    "stop that opens the pull request": Asked(2, 2),
    "idle that polls": Asked(1, 0),
    "idle inside the backoff": Asked(0, 0),
    "idle inside the backoff, again": Asked(0, 0),
    "status": Asked(2, 2),
    "worker list": Asked(0, 2),
    "record status": Asked(0, 0),
    "idle that finds it merged": Asked(1, 0),
    "done": Asked(0, 0),
    "stop that closes": Asked(2, 7),
}


def counted_task(stage: Stage, runs: CostedRuns) -> Iterator[tuple[StepCosts, Asked]]:
    """Play a whole task, and count the requests of each step beside its other costs."""
    stage.control("DELETE", "requests")
    for costs in whole_task(stage, runs):
        api = len(stage.control("GET", "requests"))
        yield costs, Asked(api, len(stage.control("GET", "requests?git=1")) - api)
        stage.control("DELETE", "requests")


def whole_task(stage: Stage, runs: Runs[T_co]) -> Iterator[T_co]:
    """Play a task from session start to close; every step is what a session or a person would run."""
    backoff = {"AGENT_SYNC_CHECKS_BACKOFF_S": "120"}
    yield runs.run("session start", "session-start")
    yield runs.run("stop without a claim", "on-stop")
    yield runs.run("claim", "claim", "42", stdin="")
    yield runs.run("stop while coding", "on-stop")
    yield runs.run("prompt while coding", "on-prompt")
    yield runs.run("tool while coding", "on-tool")
    yield runs.run("session start with a claim", "session-start")
    stage.commit("work.py", "work = 1\n", "Work")
    yield runs.run("stop after a commit", "on-stop")
    yield runs.run("handoff", "handoff", "--summary", "Fix it", "--later", stdin="")
    yield runs.run("stop that opens the pull request", "on-stop")
    yield runs.run("idle that polls", "on-idle", **backoff)
    time.sleep(0.1)
    yield runs.run("idle inside the backoff", "on-idle", **backoff)
    time.sleep(0.1)
    yield runs.run("idle inside the backoff, again", "on-idle", **backoff)
    yield runs.run("status", "status", stdin="")
    yield runs.run("worker list", "worker", "list", stdin="")
    yield runs.run("record status", "record", "status", stdin="")
    stage.act("merge_pull", pull=_pull(stage))
    yield runs.run("idle that finds it merged", "on-idle")
    yield runs.run("done", "done", "--later", stdin="")
    yield runs.run("stop that closes", "on-stop")


def gate_run(stage: Stage, runs: Runs[T_co]) -> T_co:
    """Run the gate of a stage on work that is committed, and on a file that is not."""
    stage.commit("work.py", "work = 1\n", "Work")
    (stage.root / "new.py").write_text("new = 1\n", encoding="utf-8")
    return runs.run("gate run", "gate", "run", stdin="")


def _pull(stage: Stage) -> int:
    return int(stage.world()["pulls"][-1]["number"])
