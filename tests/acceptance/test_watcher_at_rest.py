"""A watcher between two looks: a bare interpreter, beside which no other event asks or loads anything."""

import sys
import time
from pathlib import Path

import pytest
from support.step_costs import CostedRuns

MOST_MB = 12
# What a hook that has nothing to do loads, and the two modules by which a held lock is seen and a stamp compared.
FEW_MODULES = 45

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system tells nothing of a process's memory")


@pytest.fixture
def watcher(theatre):
    """Start the watcher of an open pull request and wait until it sleeps."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="x")
    theatre.hook("on-stop")
    process = theatre.popen("on-idle", "--rewake")
    process.stdin.write(b"{}")
    process.stdin.close()
    _wait_for_sleep(process)
    yield process
    process.terminate()
    process.wait(timeout=30)
    process.stdout.close()
    process.stderr.close()


def _wait_for_sleep(process):
    give_up = time.monotonic() + 60
    while b"asleep.py" not in Path(f"/proc/{process.pid}/cmdline").read_bytes():
        assert process.poll() is None
        assert time.monotonic() < give_up
        time.sleep(0.02)


def _megabytes(process):
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def test_a_sleeping_watcher_is_a_bare_interpreter(theatre, watcher):
    """Between two looks the watcher takes little memory; an edited claim makes it look and then sleep again."""
    time.sleep(0.3)
    assert _megabytes(watcher) <= MOST_MB
    theatre.edit_claim(last_check_poll=None)
    give_up = time.monotonic() + 60
    while not theatre.stage.claim().get("last_check_poll"):
        assert time.monotonic() < give_up
        time.sleep(0.02)
    _wait_for_sleep(watcher)
    time.sleep(0.3)
    assert _megabytes(watcher) <= MOST_MB


@pytest.mark.usefixtures("watcher")
def test_beside_a_watcher_idle_events_ask_nothing_and_load_nothing(theatre, tmp_path):
    """A second watcher leaves at once; a plain idle event leaves a stamp, and the next one is quiet."""
    runs = CostedRuns(theatre.stage.root, theatre.stage.environment, tmp_path / "runs")
    theatre.stage.control("DELETE", "requests")
    second = runs.run("second watcher", "on-idle", "--rewake")
    time.sleep(0.2)
    runs.run("idle", "on-idle")
    again = runs.run("idle again", "on-idle")
    assert theatre.operations() == []
    assert (second.status, again.status) == (0, 0)
    assert (len(second.modules) <= FEW_MODULES, len(again.modules) <= FEW_MODULES) == (True, True)
