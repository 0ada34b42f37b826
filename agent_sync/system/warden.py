"""Runs one program and ends all that came of it, also what left its session; a process of its own imports nothing else.

On Linux, whoever declares itself a subreaper becomes the parent of every orphan below it. So nothing that the program
starts can get away: when the program has ended, or whoever waits for it is gone, what is left is ended too.

    python -I -S -c <BEGINNING> <this folder> <descriptor> <grace> <program> <argument>...

The program begins when a byte comes through the descriptor; the end of that pipe means that its writer is gone.

One of these starts with every gate, so it loads what the interpreter is built with rather than `os`, `signal` and
`ctypes`, which are made of it and take as long to load as the interpreter to start.
"""

import _signal as signal  # type: ignore[import-not-found]  # nobody describes its types
import posix
import select
import sys
import time

SUBREAPER, DUMPABLE = 36, 4
NOT_FOUND, NOT_EXECUTABLE, TERMINATED = 127, 126, 143
# Processes that cannot be ended even so, for example ones that wait for a disk, are given up after this time.
PATIENCE = 3.0
PAUSE = 0.02
# What Python changes for itself and the program must find as usual.
CHANGED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD, signal.SIGHUP)


class Warden:
    """The parent of one program and of everything orphaned below it."""

    def __init__(self, held: int, grace: float, command: list[str]) -> None:
        self._held, self._grace, self._command = held, grace, command
        self._child = 0
        self._status: int | None = None
        self._wanted = 0
        self._awake, wake = posix.pipe()
        for end in (self._awake, wake):
            posix.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, self._note_end_request)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    def _note_end_request(self, number: int, _frame: object) -> None:
        self._wanted = self._wanted or number

    def watch(self) -> int:
        """Wait for the program's end, or for a reason to end it; return its wait status."""
        _control(SUBREAPER, 1)
        poll = select.poll()
        poll.register(self._awake, select.POLLIN)
        poll.register(self._held, select.POLLIN)
        while self._status is None and not self._wanted:
            for descriptor, _ in poll.poll():
                if descriptor == self._awake:
                    posix.read(self._awake, 4096)
                elif posix.read(self._held, 1):
                    self._begin()
                else:
                    self._wanted = signal.SIGTERM
            self._reap()
        self._end()
        return self._status if self._status is not None else TERMINATED << 8

    def _begin(self) -> None:
        if self._child:
            return
        try:
            self._child = posix.posix_spawnp(
                self._command[0],
                self._command,
                _environment(),
                file_actions=[(posix.POSIX_SPAWN_CLOSE, self._held)],
                setsigdef=CHANGED,
            )
        except OSError as error:
            posix.write(2, f"{self._command[0]}: {error.strerror}\n".encode(errors="surrogateescape"))
            self._status = (NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE) << 8

    def _reap(self) -> bool:
        """Take note of everything that has ended; tell whether anything is left."""
        while True:
            try:
                pid, status = posix.waitpid(-1, posix.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._child:
                self._status = status

    def _end(self) -> None:
        """End what is left: with a moment to put things in order if the program itself still runs, else at once."""
        if self._status is None and self._wanted == signal.SIGTERM:
            self._send(signal.SIGTERM)
            give_up = time.monotonic() + self._grace
            while self._reap() and self._wanted == signal.SIGTERM and time.monotonic() < give_up:
                time.sleep(PAUSE)
        give_up = time.monotonic() + PATIENCE
        while self._reap() and time.monotonic() < give_up:
            self._send(signal.SIGKILL)
            time.sleep(PAUSE)

    @staticmethod
    def _send(number: int) -> None:
        for pid in descendants(posix.getpid()):
            try:
                posix.kill(pid, number)
            except OSError:
                continue


def descendants(top: int) -> list[int]:
    """Return the processes below one, as far as this user can see them."""
    below: dict[int, list[int]] = {}
    for name in posix.listdir("/proc"):
        if name.isdigit():
            below.setdefault(_parent(name), []).append(int(name))
    found, ahead = [], [top]
    while ahead:
        children = below.get(ahead.pop(), [])
        found += children
        ahead += children
    return found


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in parentheses may hold anything.
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return -1


def _environment() -> dict[bytes, bytes]:
    """Return the environment this process was started with; Python may have set its locale in it since."""
    with open("/proc/self/environ", "rb") as file:
        pairs = (entry.partition(b"=") for entry in file.read().split(b"\0"))
        return {name: value for name, equals, value in pairs if equals and name}


def _control(option: int, value: int) -> None:
    arguments = (option, value, 0, 0, 0)
    try:
        import _ctypes

        here = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # what this program itself is linked with
        _ctypes.call_function(_ctypes.dlsym(here, "prctl"), arguments)
    except (ImportError, OSError, AttributeError):
        _control_by_ctypes(arguments)


def _control_by_ctypes(arguments: tuple[int, ...]) -> None:
    """Do the same in an interpreter that is made otherwise."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(*arguments)
    except (ImportError, OSError, AttributeError):
        return


def main() -> None:
    """Run the program that the arguments name, and end as it ended."""
    status = Warden(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]).watch()
    if posix.WIFSIGNALED(status):
        number = posix.WTERMSIG(status)
        # Its memory is nothing anybody would want to read.
        _control(DUMPABLE, 0)
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        posix.kill(posix.getpid(), number)
    posix._exit(posix.WEXITSTATUS(status))  # noqa: SLF001  # its name in `os`, too
