"""Disturbs one step of a whole task: a kill at a request, a git call or a write, a fault, a disk that is not there."""

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError

from support.clients import Client, Nursery
from support.git_shim import GitShim
from support.scratch_processes import processes_of
from support.whole_task import STEPS, Play, Step, whole_task
from support.whole_world import Findings, findings

from prove.case import Ending, Verdict

# Entering these, a process is about to make something durable; those a machine does not have are passed over.
WRITES = ("rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "fsync", "fdatasync", "ftruncate")
_CALL = re.compile(r"^(?:\d+ +)?(\w+)\(")
_STRACE = ("strace", "-qq", "-e", "trace=" + ",".join(f"?{name}" for name in WRITES))
_SETTLING_S = 10.0

Disturb = Callable[[Play, Step], bool]


@dataclass(frozen=True)
class Counted:
    """How many requests and git calls each step makes when nothing disturbs it."""

    requests: dict[str, list[str]]
    git_calls: dict[str, int]


def counted(nursery: Nursery) -> Counted:
    """Count in one undisturbed performance."""
    requests, git_calls = {}, {}
    with whole_task(nursery) as play:
        shim = GitShim(play.stage)
        for step in STEPS:
            play.prepare(step)
            shim.arm(0, "never")
            play.strikes.begin()
            play.run(step)
            requests[step.name], git_calls[step.name] = list(play.strikes.seen), shim.calls()
    return Counted(requests, git_calls)


def counted_writes(nursery: Nursery) -> dict[str, list[str]]:
    """Count in one performance under strace; return the calls of each step in their order."""
    with whole_task(nursery) as play:
        return {step.name: _writes_of(play, step) for step in STEPS}


def _writes_of(play: Play, step: Step) -> list[str]:
    play.prepare(step)
    trace = play.home / "trace"
    play.fresh(*_STRACE, "-o", str(trace), step=step)
    lines = trace.read_text(errors="replace").splitlines()
    trace.unlink()
    return [match[1] for line in lines if (match := _CALL.match(line))]


def played(nursery: Nursery, step: str, disturb: Disturb, directory: Path | None = None) -> Ending:
    """Play the task with one step disturbed, and judge it by the world that it leaves."""
    reached: list[bool] = []
    with whole_task(nursery, directory) as play:
        try:
            play.perform(step, lambda play, step: reached.append(disturb(play, step)))
        except HTTPError as error:
            # What people do next could not be done, because what it is done to is not there.
            return Ending(Verdict.LOST, f"{error.read().decode()}; last was said: {play.told[-1]}"[:2000])
        ending = judged(findings(play))
    if ending.verdict is Verdict.SURVIVED and reached != [True]:
        return Ending(Verdict.SKIPPED, "the step ended before")
    return ending


def judged(found: Findings, tries: int = 1) -> Ending:
    """Turn what was found into an ending."""
    said = "; ".join([*found.duplicated, *found.lost])
    if found.duplicated:
        return Ending(Verdict.DUPLICATED, said, tries)
    return Ending(Verdict.LOST if found.lost else Verdict.SURVIVED, said, tries)


def at_request(number: int, moment: str) -> Disturb:
    """Kill the command when it sends a request, which GitHub then has carried out or has never seen."""

    def disturb(play: Play, step: Step) -> bool:
        def strike(found: int) -> str | None:
            if found != number:
                return None
            kill_running(play.stage.client)
            return "drop_before" if moment == "before" else None

        play.strikes.begin(strike)
        play.run(step)
        reached = len(play.strikes.seen) >= number
        settle(play)
        return reached

    return disturb


def with_fault(number: str, fault: str) -> Disturb:
    """Let one request of a step go wrong, or all of them."""

    def disturb(play: Play, step: Step) -> bool:
        play.strikes.begin(lambda found: fault if number in {"all", str(found)} else None)
        play.run(step)
        return bool(play.strikes.seen) if number == "all" else len(play.strikes.seen) >= int(number)

    return disturb


def at_git_call(number: int, moment: str) -> Disturb:
    """Kill whoever has called git, before git has begun or after it has ended."""

    def disturb(play: Play, step: Step) -> bool:
        shim = GitShim(play.stage)
        shim.arm(number, moment)
        play.run(step)
        reached = shim.calls() >= number
        shim.disarm()
        settle(play)
        return reached

    return disturb


def at_write(call: str, number: int) -> Disturb:
    """Kill the command in a fresh interpreter when it is about to make something durable."""

    def disturb(play: Play, step: Step) -> bool:
        kill = ("-e", f"inject={call}:signal=SIGKILL:when={number}")
        status = play.fresh(*_STRACE, "-o", os.devnull, *kill, step=step)
        settle(play)
        return status in {-signal.SIGKILL, 128 + signal.SIGKILL}

    return disturb


def kill_running(client: Client, *, wait_s: float = 5.0) -> bool:
    """Kill the command that a client runs, and nothing it has started; tell whether there was one."""
    give_up = time.monotonic() + wait_s
    while client.running is None and time.monotonic() < give_up:
        time.sleep(0.001)
    running = client.running
    if running is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(running, signal.SIGKILL)
    return True


def settle(play: Play) -> None:
    """Wait until what a killed command had started has ended."""
    give_up = time.monotonic() + _SETTLING_S
    time.sleep(0.05)
    while processes_of(play.home) and time.monotonic() < give_up:
        time.sleep(0.02)
