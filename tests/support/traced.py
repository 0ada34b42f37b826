"""Writers that are traced with strace, one write after the other, to be killed or failed at any system call."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

_CALL = re.compile(r"^(?:\[pid +\d+\] )?(\w+)\(")


class TracedWriter:
    """A process that forks a child for every write; the child waits until it is traced."""

    def __init__(self, script: Path, *arguments: str, trace: Path) -> None:
        if not shutil.which("strace"):
            pytest.skip("strace is not installed: kills at system calls are not tried")
        self.trace = trace
        self.status = 0
        # Only our own calls are of interest, not those of a coverage measurement.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        command = [sys.executable, str(script), *arguments]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
        assert self.process.stdin
        assert self.process.stdout
        self._stdin, self._stdout = self.process.stdin, self.process.stdout

    def write(self, *strace: str) -> list[str]:
        """Let one child write under strace; return the names of the calls it made, and keep how it ended."""
        self._stdin.write("\n")
        self._stdin.flush()
        child = self._stdout.readline().strip()
        command = ["strace", "-o", str(self.trace), *strace, "-p", child]
        tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert tracer.stderr
        said = tracer.stderr.readline()
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGUSR1)
        ended, status = self._stdout.readline().split()
        assert ended == "ended"
        self.status = int(status)
        tracer.communicate()
        if "attached" not in said:
            pytest.skip(f"strace may not trace here: {said.strip()}")
        return [match[1] for line in self.trace.read_text().splitlines() if (match := _CALL.match(line))]

    def end(self) -> None:
        """Let the process go."""
        self._stdin.close()
        self._stdout.close()
        self.process.wait()


def points(calls: list[str]) -> list[tuple[str, int]]:
    """Number each call among those of its name."""
    counted: dict[str, int] = {}
    result = []
    for name in calls:
        counted[name] = counted.get(name, 0) + 1
        result.append((name, counted[name]))
    return result


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def serve(write_once: Callable[[], int]) -> None:
    """Fork a child per line on stdin: it says its pid, waits for a signal, writes, and ends with what that returned."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            status = 70
            try:
                say(str(os.getpid()))
                signal.sigwait({signal.SIGUSR1})
                status = write_once()
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        say(f"ended {os.waitstatus_to_exitcode(ended)}")
