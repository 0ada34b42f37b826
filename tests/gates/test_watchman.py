import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from agent_sync.gates.run.watchman import watching
from agent_sync.system import processes
from agent_sync.system.processes import BEGINNING, Processes

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a program can leave")

CODE = """
import os, sys, subprocess, signal
from agent_sync.gates.run.watchman import watching
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
    monkeypatch.setenv("PATH", "/nowhere")
    with watching() as watchman:
        watchman.began(1)
        watchman.ended(1)


def streamed(command, *, programs=None, environment=None, timeout=None):
    """Run a watched shell line; return its exit status and what it printed."""
    with watching() as watchman, tempfile.TemporaryFile() as output:
        status = (programs or Processes()).stream(
            ["sh", "-c", command],
            directory="/",
            environment=os.environ if environment is None else environment,
            output=output,
            timeout=timeout,
            watch=watchman,
        )
        output.seek(0)
        return status, output.read()


LEAVING = {
    "session": "setsid sleep 300 & echo $! > {pid}",
    "sessions below": "setsid sh -c 'setsid sleep 300 & echo $! > {pid}; sleep 300' &",
    "double fork": "(setsid sh -c 'echo $$ > {pid}; exec sleep 300' &)",
    "deaf": "setsid sh -c 'trap \"\" TERM HUP; echo $$ > {pid}; sleep 300; sleep 300' &",
}


def has_written(file):
    give_up = time.monotonic() + 20
    while not (file.exists() and file.read_text().strip()) and time.monotonic() < give_up:
        time.sleep(0.02)
    return int(file.read_text())


@linux_only
class TestWhatLeaves:
    """What a gate's program starts ends with it, wherever it went."""

    @pytest.mark.parametrize("command", LEAVING.values(), ids=LEAVING)
    def test_after_the_program(self, tmp_path, command):
        """What left the program's session is ended when the program has ended."""
        pid = tmp_path / "pid"
        wait = f"until [ -s {pid} ]; do sleep 0.02; done; exit 3"
        status, _ = streamed(f"{command.format(pid=pid)}\n{wait}")
        assert (status, is_running(int(pid.read_text()))) == (3, False)

    def test_at_the_time_limit(self, tmp_path):
        """The time limit takes down what left the session too."""
        pid = tmp_path / "pid"
        with pytest.raises(TimeoutError):
            streamed(f"setsid sleep 300 & echo $! > {pid}; sleep 300", timeout=1)
        assert not is_running(int(pid.read_text()))

    def test_ended_by_another_thread(self, tmp_path):
        """So does the end of all programs at once."""
        pid, programs = tmp_path / "pid", Processes()
        line = f"setsid sleep 300 & echo $! > {pid}; sleep 300"
        worker = threading.Thread(target=streamed, args=(line,), kwargs={"programs": programs})
        worker.start()
        left = has_written(pid)
        programs.end_all()
        worker.join(20)
        assert not worker.is_alive()
        assert not is_running(left)

    def test_programs_side_by_side(self, tmp_path):
        """The end of one program leaves what another one started alone."""
        pid, go = tmp_path / "pid", tmp_path / "go"
        found = []
        line = f"setsid sleep 300 & echo $! > {pid}; until [ -e {go} ]; do sleep 0.02; done; kill -0 $(cat {pid})"
        worker = threading.Thread(target=lambda: found.append(streamed(line)[0]))
        worker.start()
        has_written(pid)
        assert streamed("setsid sleep 300 & exit 0")[0] == 0
        go.touch()
        worker.join(20)
        assert found == [0]


SAME = {
    "status": ("exit 3", 3, b""),
    "signal": ("kill -9 $$", -9, b""),
    "broken pipe": ("sh -c 'yes; echo $? >&2' | head -1 >/dev/null", 0, b"141\n"),
    "environment": (
        "env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | sort",
        0,
        b"LANG=C\nPATH=/usr/bin:/bin\nX= a=b \n",
    ),
}


@pytest.mark.parametrize(("command", "status", "output"), SAME.values(), ids=SAME)
def test_watched_programs_notice_nothing(command, status, output):
    """Exit status, signals and environment of a watched program are what they would be without anybody watching."""
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C", "X": " a=b "}
    assert streamed(command, environment=environment) == (status, output)


@linux_only
@pytest.mark.parametrize(("program", "status"), [("/nowhere/x", 127), ("/etc/passwd", 126)])
def test_programs_that_cannot_be_started(tmp_path, program, status):
    """A watched program that is not there, or is none, ends as a shell would say, with its name in the output."""
    with watching() as watchman, (tmp_path / "out").open("wb") as output:
        found = Processes().stream([program], directory="/", environment=os.environ, output=output, watch=watchman)
    assert (found, (tmp_path / "out").read_text().startswith(f"{program}: ")) == (status, True)


@linux_only
def test_what_watches_a_program_loads_little():
    """Every gate starts a process that watches it, which loads none of the large modules it could do with."""
    code = f"{BEGINNING.removesuffix('warden.main()')} print(*sys.modules)"
    here = str(Path(processes.__file__).parent)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, here], capture_output=True, text=True, check=True)
    assert "warden" in done.stdout.split()
    assert {"os", "signal", "enum", "re", "ctypes", "subprocess"} & set(done.stdout.split()) == set()
