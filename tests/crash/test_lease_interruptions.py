"""Kills claim, take-over and release at every write and every program they start, runs them again, and looks."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.clones import SHORT, beside, long_ago, with_variables
from support.prove import PROVE
from support.stage import Theatre, clone_of_github, quick

# Entering these, a process is about to make something durable, to send, to start git, or to hear how git ended.
CALLS = ("rename", "unlink", "link", "fsync", "sendto", "pipe2", "wait4")
# One point of each command, which must be reached; `make prove` counts the points and tries each by itself.
SAMPLE = {0: ("sendto", 2), 1: ("rename", 4), 2: ("wait4", 2)}
_CALL = re.compile(r"^(?:\d+ +)?(\w+)\(")
BOB = "from agent_sync.__main__ import main; main()"
# Her clock is late, so that her lease of a second has run out by everybody else's.
LATE_S = 9
ANN = f"""
from datetime import UTC, datetime, timedelta
from agent_sync.system import clock
clock.now = lambda: datetime.now(UTC) - timedelta(seconds={LATE_S})
{BOB}
"""
COMMANDS = (("claim", "42"), ("claim", "42", "--take-over"), ("release",))


class Play:
    """Ann claims, her lease runs out, bob takes over and gives the issue back; one command is killed once."""

    def __init__(self, scenery):
        steady = replace(quick(scenery), environment=scenery.environment | {"PYTHONHASHSEED": "0"})
        self.ann = with_variables(Theatre(steady), **SHORT)
        self.bob = beside(self.ann, "bob", CLAUDECODE="")
        self.trace = scenery.root.parent / "trace"
        self.is_killed = False

    def run(self, number: int) -> None:
        """Run a command to its end; what was finished before the kill may say that nothing is left to do."""
        if number:
            self.bob.stage.run(*COMMANDS[number], stdin="")
            return
        with long_ago(self.ann, LATE_S):
            self.ann.stage.run(*COMMANDS[number], stdin="")

    def traced(self, number: int, *strace: str) -> list[str]:
        """Run a command under strace, in an interpreter of its own, and return the calls it made."""
        stage = (self.bob if number else self.ann).stage
        done = subprocess.run(
            [
                *("strace", "-o", str(self.trace), "-e", f"trace={','.join(CALLS)}", *strace),
                *(sys.executable, "-c", BOB if number else ANN, *COMMANDS[number]),
            ],
            cwd=stage.root,
            env=stage.environment,
            capture_output=True,
            check=False,
            timeout=120,
        )
        self.is_killed = done.returncode in {-signal.SIGKILL, 128 + signal.SIGKILL}
        lines = self.trace.read_text(errors="replace").splitlines()
        return [match[1] for line in lines if (match := _CALL.match(line)) and match[1] in CALLS]

    def check(self, number: int) -> None:
        """One holder per epoch, the claim file agrees with the ref, and GitHub shows it."""
        rows = json.loads(self.bob.stage.command("status", "--all", "--json").stdout)["claims"]
        held = [(row["issue"], row["epoch"], row["holder"].split()[0]) for row in rows]
        if number == len(COMMANDS) - 1:
            assert (held, self.bob.stage.claim(), self.bob.issue()["assignees"]) == ([], None, [])
            assert self.bob.card() == {"Status": "Todo", "Priority": "P1"}
            return
        claim = (self.bob if number else self.ann).stage.claim()
        assert held == [(42, number + 1, claim["agent_id"])]
        assert claim["lease"]["epoch"] == number + 1
        assert self.bob.card() == {"Status": "In Progress", "Priority": "P1", "Agent": claim["agent_id"]}


def points() -> Iterator[tuple[int, str, int]]:
    """Count the calls of every command in one undisturbed performance."""
    with clone_of_github() as scenery:
        play = Play(scenery)
        for number in range(len(COMMANDS)):
            calls = play.traced(number)
            play.check(number)
            for name in CALLS:
                yield from ((number, name, ordinal + 1) for ordinal in range(calls.count(name)))


def perform(kills: dict[int, tuple[str, int]]) -> Iterator[bool]:
    """Kill these commands at one call each and run them again; tell of each whether the call was reached."""
    with clone_of_github() as scenery:
        play = Play(scenery)
        for number in range(max(kills) + 1):
            if number in kills:
                name, ordinal = kills[number]
                play.traced(number, "-e", f"inject={name}:signal=SIGKILL:when={ordinal}")
                yield play.is_killed
            play.run(number)
            play.check(number)


def test_killed_anywhere_a_second_run_tells_whose_it_is(record_property):
    """Whichever write or program is the last one before a kill: the same command again reaches the right verdict."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed: commands are not killed at their calls")
    if not PROVE:
        assert list(perform(SAMPLE)) == [True] * len(COMMANDS)
        return
    every = list(points())
    reached = sum(is_killed for number, *call in every for is_killed in perform({number: tuple(call)}))
    record_property("counted", f"killed claim, take-over and release at {reached} of {len(every)} calls: one holder")
    assert reached
