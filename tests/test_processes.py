import os
import signal
import subprocess
import threading
import time

import pytest

from agent_sync.processes import Finished, Processes


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
    assert Finished(3, "in", "err") == run(["sh", "-c", "cat; printf err >&2; exit 3"], stdin="in")


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
