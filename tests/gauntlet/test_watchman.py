import subprocess
import sys
import time

CODE = """
import os, sys, subprocess, signal
from agent_sync.gauntlet.watchman import watching
with watching() as watchman:
    living = subprocess.Popen(["sleep", "60"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ended = subprocess.Popen(["sleep", "60"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    watchman.began(living.pid)
    watchman.began(ended.pid)
    watchman.ended(ended.pid)
    print(living.pid, ended.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def is_running(pid):
    state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


def test_groups_of_a_killed_process_end():
    """What was told of ends with us however sudden; what was taken back does not."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False, timeout=50)
    living, ended = map(int, done.stdout.split())
    try:
        give_up = time.monotonic() + 15
        while is_running(living) and time.monotonic() < give_up:
            time.sleep(0.05)
        assert not is_running(living)
        assert is_running(ended)
    finally:
        subprocess.run(["kill", str(ended)], check=False)


def test_without_a_shell(monkeypatch):
    """Where no shell can be started a run goes on unwatched."""
    from agent_sync.gauntlet.watchman import watching

    monkeypatch.setenv("PATH", "/nowhere")
    with watching() as watchman:
        watchman.began(1)
        watchman.ended(1)
