"""Runs other programs so that none of them outlives us."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Finished:
    """What a program left behind."""

    status: int
    stdout: str
    stderr: str


class Processes:
    """The programs this process has started, each leading a group of its own that can be ended as one."""

    def __init__(self) -> None:
        # Re-entrant, because a signal may ask for the end while the same thread starts a program.
        self._lock = threading.RLock()
        self._running: set[subprocess.Popen[str]] = set()

    def run(
        self,
        command: Sequence[str],
        *,
        directory: str,
        environment: Mapping[str, str],
        stdin: str = "",
        timeout: float | None = None,
    ) -> Finished:
        """Run `command` to its end; at the time limit it is ended with all it started, and TimeoutError raised."""
        with self._started(command, directory, environment) as process:
            try:
                stdout, stderr = process.communicate(stdin, timeout=timeout)
                return Finished(process.returncode, stdout, stderr)
            except subprocess.TimeoutExpired as error:
                raise TimeoutError(f"{command[0]} took longer than {timeout:g} s") from error
            finally:
                _end(process)
                with self._lock:
                    self._running.discard(process)

    def _started(self, command: Sequence[str], directory: str, environment: Mapping[str, str]) -> subprocess.Popen[str]:
        # Started and noted in one go, so that nobody can end all in between and miss this one.
        with self._lock:
            process = subprocess.Popen(
                command,
                cwd=directory,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="surrogateescape",
                start_new_session=True,
            )
            self._running.add(process)
            return process

    def end_all(self) -> None:
        """End every program that still runs, with all it started."""
        with self._lock:
            for process in self._running:
                _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
