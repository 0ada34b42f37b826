"""Many real processes after few issues: the history of each ref tells that there was one holder at a time."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from support.leases import CLAIMS, Yard, git, yard
from support.prove import PROVE

CLAIMER = Path(__file__).with_name("claimer.py")
FAULTS = ("drop_before", "drop_after_apply", "status:502", "delay:0.3")
LONGEST_S = 3600.0


@dataclass(frozen=True)
class Size:
    """How large a race is; `trouble` is how often a second something goes wrong on the way."""

    claimers: int
    issues: int
    rounds: int
    kills: int
    trouble: float = 0.0


RACES = {
    "file": ("file", Size(8, 3, 12, kills=60) if PROVE else Size(4, 2, 2, kills=2)),
    "http": ("http", Size(50, 5, 20, kills=200, trouble=3.0) if PROVE else Size(4, 2, 2, kills=1, trouble=4.0)),
    "api": ("api", Size(50, 5, 20, kills=200, trouble=3.0) if PROVE else Size(4, 1, 2, kills=1, trouble=4.0)),
}


@pytest.mark.parametrize(("kind", "size"), RACES.values(), ids=RACES.keys())
def test_one_holder_at_a_time(kind, size, tmp_path, record_property):
    """However many race, with clocks that jump, kills and lost answers, each epoch has one holder."""
    with yard(kind, tmp_path) as shared:
        # The server's own journal: every value each ref ever had, replaced renewals included.
        git(shared.shared, "config", "core.logAllRefUpdates", "always")
        words = _race(shared, size)
        sequences = {issue: _sequence(shared, issue) for issue in range(1, size.issues + 1)}
        for issue, sequence in sequences.items():
            _check_sequence(shared, issue, sequence)
        _check_words(words, {claim["sha"]: claim for sequence in sequences.values() for claim in sequence})
    changes = sum(len(sequence) for sequence in sequences.values())
    epochs = sum(sequence[-1]["epoch"] for sequence in sequences.values())
    told = Counter(f"{word['order']} {word.get('doubt', word['outcome'].lower())}" for word in words)
    assert told["wanted won"]
    assert told["wanted notheld"]
    counted = ", ".join(f"{count} {name}" for name, count in sorted(told.items()))
    record_property(
        "counted", f"race over {kind}: {size.claimers} claimers, {epochs} epochs, {changes} swaps; {counted}"
    )


def _race(shared: Yard, size: Size) -> list[dict]:
    """Let the claimers race, kill some and start them again, and return all that they were told."""
    dice = random.Random(size.claimers)  # noqa: S311  # a repeatable race, not a secret
    names = [f"claimer{number}" for number in range(size.claimers)]
    for name in names:
        shared.worker(name)
    running = {name: _started(shared, name, size, number) for number, name in enumerate(names)}
    try:
        _disturb(shared, size, running, dice)
        assert {process.returncode for process in running.values()} == {0}
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    return [word for name in names for word in _words(shared, name)]


def _disturb(shared: Yard, size: Size, running: dict[str, subprocess.Popen[bytes]], dice: random.Random) -> None:
    """Order trouble and kill claimers at random until all are through; whoever is killed starts again."""
    kills, give_up = size.kills, time.monotonic() + LONGEST_S
    while any(process.poll() is None for process in running.values()):
        assert time.monotonic() < give_up
        time.sleep(0.1 + dice.random() * 0.2)
        if dice.random() < size.trouble * 0.2:
            shared.fault(dice.choice(FAULTS))
        name = dice.choice(list(running))
        if kills and running[name].poll() is None and dice.random() < 0.5:
            kills -= 1
            running[name].send_signal(signal.SIGKILL)
            running[name].wait()
            running[name] = _started(shared, name, size, 1000 + kills)


def _started(shared: Yard, name: str, size: Size, seed: int) -> subprocess.Popen[bytes]:
    """Start a claimer, for the rounds it has not been through yet."""
    been = sum(word["order"] == "wanted" for word in _words(shared, name)) // size.issues
    numbers = [str(number) for number in (size.issues, max(size.rounds - been, 1), seed)]
    command = [sys.executable, str(CLAIMER), "race", str(shared.worker(name).root), *numbers]
    way = {"CLAIMER_BY_API": "1"} if shared.kind == "api" else {}
    with (shared.directory / f"{name}.log").open("ab") as log:
        return subprocess.Popen(command, env=dict(os.environ) | way, stdout=log)


def _words(shared: Yard, name: str) -> list[dict]:
    """Return what a claimer was told; a kill may have cut a line."""
    log = shared.directory / f"{name}.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [json.loads(line) | {"by": name} for line in lines if line.startswith("{") and line.endswith("}")]


def _sequence(shared: Yard, issue: int) -> list[dict]:
    """Return every claim a ref ever held, in order, with the commit it replaced and the one it continues."""
    log = (shared.shared / "logs" / f"{CLAIMS}{issue}").read_text().splitlines()
    moves = [line.split(" ")[:2] for line in log]
    found = []
    for old, new in moves:
        parent = git(shared.shared, "rev-list", "--parents", "-1", new).split()[1:]
        found.append(shared.lease(new) | {"sha": new, "old": old.strip("0") and old, "parent": "".join(parent)})
    return found


def _check_sequence(shared: Yard, issue: int, sequence: list[dict]) -> None:
    """Hold a ref's values against the rules: who may follow whom."""
    assert sequence[-1]["sha"] == shared.tip(issue)
    assert (sequence[0]["epoch"], sequence[0]["old"]) == (1, "")
    began = sequence[0]
    for before, after in pairwise(sequence):
        assert after["prev"] == after["old"] == before["sha"]
        if after["nonce"] == before["nonce"]:
            is_renewal = after["state"] == "held"
            assert (after["epoch"], after["serial"]) == (before["epoch"], before["serial"] + 1)
            assert before["state"] == "held"
            assert after["parent"] == (began["sha"] if is_renewal else before["sha"])
        else:
            assert (after["epoch"], after["serial"], after["state"]) == (before["epoch"] + 1, 0, "held")
            assert after["parent"] == before["sha"]
            began = after
    holders = {(claim["epoch"], claim["nonce"], claim["holder"]["worktree"]) for claim in sequence}
    assert len(holders) == sequence[-1]["epoch"] == len({nonce for _, nonce, _ in holders})
    chain = git(shared.shared, "rev-list", "--reverse", f"{CLAIMS}{issue}").split()
    assert [sha for sha in (claim["sha"] for claim in sequence) if sha in set(chain)] == chain


def _check_words(words: list[dict], real: dict[str, dict]) -> None:
    """Hold what claimers were told against what the refs really held."""
    for word in words:
        if word["outcome"] == "Unknown":
            continue
        claim = real[word["sha"]]
        assert (claim["issue"], claim["epoch"], claim["nonce"]) == (word["issue"], word["epoch"], word["nonce"])
        assert claim["holder"]["agent"] == word["holder"]
        if word["outcome"] == "Won":
            assert word["holder"] == word["by"]
    won = Counter(
        (word["issue"], word["epoch"]) for word in words if (word["order"], word["outcome"]) == ("wanted", "Won")
    )
    owners = {(word["issue"], word["epoch"], word["by"]) for word in words if word["outcome"] == "Won"}
    assert len(owners) == len({(issue, epoch) for issue, epoch, _ in owners})
    assert won
