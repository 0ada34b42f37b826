import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agent_sync.system.processes import FinishedProcess, Processes


def run(command, **options):
    return Processes().run(command, directory="/", environment=os.environ, **options)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return not state.startswith("Z")


def gone(pid):
    """Wait a moment for a process to be gone."""
    give_up = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < give_up:
        time.sleep(0.02)
    return not is_alive(pid)


def test_output_and_status_come_back():
    """Output, errors and exit status of a program are returned, input is passed on."""
    assert FinishedProcess(3, "in", "err") == run(["sh", "-c", "cat; printf err >&2; exit 3"], stdin="in")


def test_time_limit_takes_grandchildren_down(tmp_path):
    """At the time limit a program is ended with all it started."""
    pid_file = tmp_path / "pid"
    with pytest.raises(TimeoutError, match="longer than"):
        run(["sh", "-c", f"sleep 60 & echo $! > {pid_file}; wait"], timeout=0.5)
    assert gone(int(pid_file.read_text()))


def test_all_can_be_ended_from_another_thread(tmp_path):
    """What runs now can be ended at once by someone else: the watchdog."""
    processes, pid_file = Processes(), tmp_path / "pid"
    command = ["sh", "-c", f"sleep 60 & echo $! > {pid_file}; wait"]
    worker = threading.Thread(
        target=processes.run, args=(command,), kwargs={"directory": "/", "environment": os.environ}
    )
    worker.start()
    while not pid_file.exists() or not pid_file.read_text():
        time.sleep(0.01)
    processes.end_all()
    worker.join(timeout=5)
    assert not worker.is_alive()
    assert gone(int(pid_file.read_text()))


def test_children_do_not_share_our_signals():
    """A program runs in a group of its own, so that ending it never ends us."""
    assert str(os.getpgrp()) != run(["ps", "-o", "pgid=", "-p", "$$"]).stdout.strip()
    assert run(["sh", "-c", "kill -9 $$"]).status == 0 - signal.SIGKILL


def stream(tmp_path, line, **options):
    with (tmp_path / "out").open("wb") as output:
        return Processes().stream(["sh", "-c", line], directory="/", environment=os.environ, output=output, **options)


def test_streamed_output_goes_to_the_file(tmp_path):
    """What a program prints and complains about lands in the file in the order it came."""
    assert stream(tmp_path, "echo one; echo two >&2; exit 4") == 4
    assert (tmp_path / "out").read_text() == "one\ntwo\n"


def test_what_a_program_leaves_running_is_ended(tmp_path):
    """A program that ends and leaves a child behind leaves none."""
    assert stream(tmp_path, f"sleep 60 & echo $! > {tmp_path / 'pid'}") == 0
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_program_may_clean_up_at_its_limit(tmp_path):
    """At the limit a program is asked to end first, then ended with all it started."""
    line = f"trap 'echo bye; exit' TERM; sleep 60 & echo $! > {tmp_path / 'pid'}; wait"
    with pytest.raises(TimeoutError, match="took longer than"):
        stream(tmp_path, line, timeout=0.5)
    assert (tmp_path / "out").read_text() == "bye\n"
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_program_that_does_not_listen_is_ended(tmp_path):
    """A program that ignores the request is ended all the same."""
    with pytest.raises(TimeoutError):
        stream(tmp_path, f"trap '' TERM; echo $$ > {tmp_path / 'pid'}; while :; do sleep 1; done", timeout=0.3)
    assert gone(int((tmp_path / "pid").read_text()))


def test_nothing_is_started_after_the_end():
    """Once this process is about to leave, no further program is started that could outlive it."""
    processes = Processes()
    processes.close()
    with pytest.raises(InterruptedError):
        processes.run(["true"], directory="/", environment=os.environ)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells when a process was started")
def test_age_counts_from_the_start_of_the_process():
    """What passes before the first line of ours runs counts too."""
    code = (
        "import time; time.sleep(0.6); from agent_sync.system.processes import seconds_since_start as age; print(age())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.5 <= float(done.stdout) < 60
