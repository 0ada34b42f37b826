"""Kills the commands of a whole task at every request and every durable write, runs them again, and looks at the world."""

import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from support.prove import PROVE
from support.stage import Theatre

from agent_sync.demo.stage import Stage, stage

# Entering these, a process is about to send, has just been answered, or is about to make something durable.
CALLS = ("sendto", "recvfrom", "rename", "unlink", "fsync")
SAMPLE = 2
_CALL = re.compile(r"^(?:\d+ +)?(\w+)\(")


@dataclass(frozen=True)
class Step:
    """One command of the task, and what people and CI do before it."""

    arguments: tuple[str, ...]
    stdin: str = "{}"
    before: str = ""


STEPS = (
    Step(("claim", "42")),
    Step(("handoff", "--later", "--summary", "-"), stdin="Fix the race", before="commit"),
    Step(("on-stop",)),
    Step(("on-idle",), before="red"),
    Step(("on-idle",), before="merge"),
    Step(("done", "--later")),
    Step(("on-stop",)),
)


class Play:
    """One performance of the task, in which one command may be killed once."""

    def __init__(self, scenery: Stage, directory: Path) -> None:
        self.stage = replace(scenery, environment=scenery.environment | {"PYTHONHASHSEED": "0"})
        self.theatre = Theatre(self.stage)
        self.trace = directory / "trace"

    def prepare(self, step: Step) -> None:
        """Do what people and CI do before a step."""
        match step.before:
            case "commit":
                self.stage.commit("fix.txt", "fix\n", "Fix")
            case "red":
                self.stage.act("add_check", pull=45, name="test", status="completed", conclusion="failure")
            case "merge":
                self.stage.act("merge_pull", pull=45, method="merge")

    def run(self, step: Step) -> int:
        """Run a step to its end."""
        return self.stage.command(*step.arguments, stdin=step.stdin).status

    def traced(self, step: Step, *strace: str) -> list[str]:
        """Run a step under strace and return the calls it made."""
        command = ["strace", "-o", str(self.trace), "-e", f"trace={','.join(CALLS)}", *strace]
        subprocess.run(
            [*command, sys.executable, "-m", "agent_sync", *step.arguments],
            cwd=self.stage.root,
            env=self.stage.environment,
            input=step.stdin.encode(),
            capture_output=True,
            check=False,
            timeout=120,
        )
        lines = self.trace.read_text(errors="replace").splitlines()
        return [match[1] for line in lines if (match := _CALL.match(line)) and match[1] in CALLS]

    def let_time_pass(self) -> None:
        """Make what a killed process left look as it does a few minutes later."""
        for path in self.litter():
            os.utime(path, (time.time() - 300,) * 2)

    def litter(self) -> list[Path]:
        """Return the temporaries that lie in the clone and in the home."""
        return [*self.stage.root.rglob("*.tmp"), *Path(self.stage.environment["HOME"]).rglob("*.tmp")]

    def check(self) -> None:
        """One pull request, one comment, one close, card in Done, Agent empty, claim file gone, no temporary left."""
        assert self.litter() == []
        world = self.stage.world()
        assert [pull["number"] for pull in world["pulls"]] == [45]
        assert len(self.theatre.comments()) == 1
        assert self.theatre.issue()["state"] == "closed"
        assert self.theatre.issue()["assignees"] == ["octo"]
        assert self.theatre.card() == {"Status": "Done", "Priority": "P1"}
        assert self.stage.claim() is None


def points() -> Iterator[tuple[int, str, int]]:
    """Count the calls of every step in one undisturbed performance."""
    with stage() as scenery:
        play = Play(scenery, scenery.root.parent)
        for number, step in enumerate(STEPS):
            play.prepare(step)
            calls = play.traced(step)
            for name in CALLS:
                yield from ((number, name, ordinal + 1) for ordinal in range(calls.count(name)))
        play.check()


def test_killed_anywhere_the_task_ends_the_same(tmp_path, record_property):
    """Whichever request or write of whichever command is the last one before a kill: the world ends the same."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed: commands are not killed at their calls")
    every = list(points())
    chosen = every if PROVE else random.Random(42).sample(every, SAMPLE)  # noqa: S311  # a fixed sample
    for number, name, ordinal in chosen:
        with stage() as scenery:
            play = Play(scenery, tmp_path)
            for index, step in enumerate(STEPS):
                play.prepare(step)
                if index == number:
                    play.traced(step, "-e", f"inject={name}:signal=SIGKILL:when={ordinal}")
                    play.let_time_pass()
                play.run(step)
            play.check()
    record_property("counted", f"killed a task at {len(chosen)} of {len(every)} requests and writes: one world")


FAULTS = ("drop_before", "drop_after_apply", "truncate", "garbage", "status:502")
WRITES = ("ClaimTask", "OpenPull", "CloseTask")
SHORT = [("OpenPull", "drop_after_apply"), ("CloseTask", "drop_after_apply"), ("ClaimTask", "truncate")]


@pytest.mark.parametrize(("operation", "fault"), list(itertools.product(WRITES, FAULTS)) if PROVE else SHORT)
def test_lost_answers_are_looked_for_not_repeated(tmp_path, operation, fault):
    """A write whose answer was lost is found by the next look: nothing is done twice, nothing is left out."""
    with stage() as scenery:
        play = Play(scenery, tmp_path)
        play.theatre.fault(fault, operation=operation)
        for step in STEPS:
            play.prepare(step)
            play.run(step)
            if step.arguments[0] in {"claim", "on-stop"}:
                play.run(step)
        play.check()
