"""Runs other programs so that none of them outlives us."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, ClassVar, NoReturn, Protocol

from agent_sync.lazy_dataclasses import dataclass

# Lets a program begin only when somebody watches it: should we be killed before, it never begins.
_HELD = 'read -r go <"/dev/fd/$0" && exec "$@"'
# In /proc/<pid>/stat, counted behind the name: when the process was started, in ticks since the boot.
_STARTED = 19
# No hook is so late: a system that tells more than this tells something else.
_LATEST_BEGINNING = 60.0
# What a program gets to put its things in order before it is ended for good.
GRACE = 2.0
# Beyond that, what a warden gets to end what has left the group.
WARDEN_GRACE = 4.0
# Imported, so that it is not compiled for every program.
BEGINNING = "import sys; sys.path.insert(0, sys.argv.pop(1)); import warden; warden.main()"


@dataclass(frozen=True)
class FinishedProcess:
    """What a program left behind."""

    status: int
    stdout: str
    stderr: str


class Watch(Protocol):
    """Someone who is told which groups of programs live, to end them should we be killed."""

    def began(self, group: int) -> None:
        """Note a group."""

    def ended(self, group: int) -> None:
        """Forget a group."""


class Processes:
    """The programs this process has started, each leading a group of its own that can be ended as one."""

    # What is around every run: nothing, unless somebody wants to see what is run.
    around: ClassVar[Callable[[str], contextlib.AbstractContextManager[Any]]] = contextlib.nullcontext

    def __init__(self) -> None:
        # Re-entrant, because a signal may ask for the end while the same thread starts a program.
        self._lock = threading.RLock()
        self._running: set[subprocess.Popen[Any]] = set()
        # Those that run below a warden, which ends all that came of them.
        self._guarded: set[subprocess.Popen[Any]] = set()
        self._is_closed = False
        # How often a program that is not git has begun or ended: whatever it is, it may have changed anything.
        self.programs = 0

    def run(
        self,
        command: Sequence[str],
        *,
        directory: str,
        environment: Mapping[str, str],
        stdin: str = "",
        timeout: float | None = None,
    ) -> FinishedProcess:
        """Run `command` to its end; at the time limit it is ended with all it started, and TimeoutError raised."""
        with Processes.around(f"run {' '.join(command)}"), self._started(command, directory, environment) as process:
            try:
                stdout, stderr = process.communicate(stdin, timeout=timeout)
                return FinishedProcess(process.returncode, stdout, stderr)
            except subprocess.TimeoutExpired as error:
                raise TimeoutError(f"{command[0]} took longer than {timeout:g} s") from error
            finally:
                _end(process)
                self._forget(process)

    def stream(  # noqa: PLR0913  # a program has as many sides
        self,
        command: Sequence[str],
        *,
        directory: str,
        environment: Mapping[str, str],
        output: IO[bytes],
        errors: IO[bytes] | None = None,
        stdin: IO[bytes] | None = None,
        timeout: float | None = None,
        watch: Watch | None = None,
    ) -> int:
        """Run `command` with its output going straight to a file, however much it is; return its exit status.

        At its end, and at the time limit with TimeoutError, all it left running in its group is ended too; where it
        is watched, on Linux, also what has left the group.
        """
        held, free = os.pipe() if watch else (None, None)
        try:
            process = self._streaming(command, directory, environment, (stdin, output, errors), held=held)
        except BaseException:
            _close(held, free)
            raise
        try:
            if watch and free is not None:
                watch.began(process.pid)
                os.write(free, b"\n")
            return process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"took longer than {timeout:g} s") from error
        finally:
            _end_gently(process, is_guarded=self._is_guarded(process))
            _close(held, free)
            if watch:
                watch.ended(process.pid)
            self._forget(process)

    def _started(self, command: Sequence[str], directory: str, environment: Mapping[str, str]) -> subprocess.Popen[str]:
        # Started and noted in one go, so that nobody can end all in between and miss this one.
        with self._lock:
            self._refuse_when_closed()
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
            self._note(process, command)
            return process

    def _streaming(
        self,
        command: Sequence[str],
        directory: str,
        environment: Mapping[str, str],
        files: tuple[IO[bytes] | None, IO[bytes], IO[bytes] | None],
        *,
        held: int | None,
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            self._refuse_when_closed()
            process = subprocess.Popen(
                command if held is None else [*_held_command(held), *command],
                cwd=directory,
                env=dict(environment),
                stdin=files[0] or subprocess.DEVNULL,
                stdout=files[1],
                stderr=files[2] or subprocess.STDOUT,
                start_new_session=True,
                pass_fds=() if held is None else (held,),
            )
            self._note(process, command)
            if held is not None and _has_wardens():
                self._guarded.add(process)
            return process

    def _note(self, process: subprocess.Popen[Any], command: Sequence[str]) -> None:
        self._running.add(process)
        self.programs += command[0] != "git"

    def _forget(self, process: subprocess.Popen[Any]) -> None:
        with self._lock:
            self.programs += process.args[0] != "git"  # type: ignore[index]  # always started with a list of words
            self._running.discard(process)
            self._guarded.discard(process)

    def _is_guarded(self, process: subprocess.Popen[Any]) -> bool:
        with self._lock:
            return process in self._guarded

    def close(self) -> None:
        """End every program and start none from now on: this process is about to leave."""
        with self._lock:
            self._is_closed = True
            self.end_all()

    def _refuse_when_closed(self) -> None:
        if self._is_closed:
            raise InterruptedError("this process is about to leave")

    def end_all(self) -> None:
        """End every program that still runs, with all it started."""
        with self._lock:
            for process in self._running:
                _end(process, is_guarded=process in self._guarded)


def _close(*descriptors: int | None) -> None:
    for descriptor in descriptors:
        if descriptor is not None:
            os.close(descriptor)


def _has_wardens() -> bool:
    return sys.platform == "linux" and bool(sys.executable)


def _held_command(descriptor: int) -> list[str]:
    """Return what lets a command begin at a byte from the descriptor, and looks after it where the system can."""
    if _has_wardens():
        here = str(Path(__file__).parent)
        return [sys.executable, "-I", "-S", "-c", BEGINNING, here, str(descriptor), str(GRACE)]
    return ["sh", "-c", _HELD, str(descriptor)]


def _end(process: subprocess.Popen[Any], *, is_guarded: bool = False) -> None:
    if is_guarded and process.poll() is None:
        # The warden ends everything at once, then itself.
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.kill(process.pid, signal.SIGUSR1)
            process.wait(WARDEN_GRACE)
    if process.poll() is None:
        _signal(process, signal.SIGKILL)
        process.wait()


def _end_gently(process: subprocess.Popen[Any], *, is_guarded: bool) -> None:
    """End a program and whatever is left of its group, even where the program itself is gone already."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE + WARDEN_GRACE if is_guarded else GRACE)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[Any], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def seconds_since_start() -> float:
    """Return how long ago this process was started, interpreter and imports included; 0 where nobody tells."""
    try:
        behind_name = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        started = int(behind_name[_STARTED]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (AttributeError, OSError, ValueError, IndexError):
        return 0.0
    return age if 0 <= age <= _LATEST_BEGINNING else 0.0


class Watchdog:
    """One answer per process: either the work's own or, at the deadline, the one from here.

    A thread does it, because the work may sit in a call that no signal interrupts (a name look-up, say). State is
    saved after every outcome, so leaving at any moment costs at most one repeated action.
    """

    def __init__(self, limit: float, *, at_limit: Callable[[], None], end_children: Callable[[], None]) -> None:
        self._answering = threading.Lock()
        self._at_limit = at_limit
        self._end_children = end_children
        self._timer = threading.Timer(limit, self._expired)
        self._timer.daemon = True

    def start(self) -> None:
        """Begin to watch; a request to terminate ends the children too."""
        # A handler interrupts its own thread anywhere, also where a program runs already and is not noted yet; a thread
        # of its own waits for that.
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=self._leave).start())
        self._timer.start()

    def stop(self) -> None:
        """Watch no longer: another one does."""
        self._timer.cancel()

    def answered_in_time(self) -> bool:
        """Claim the right to answer; False means that the watchdog is already answering."""
        self._timer.cancel()
        return self._answering.acquire(blocking=False)

    def _expired(self) -> None:
        if self._answering.acquire(blocking=False):
            try:
                self._at_limit()
            finally:
                self._leave()

    def _leave(self) -> NoReturn:
        self._end_children()
        os._exit(0)
