"""Ends the programs of a run that was killed itself: a shell waits at a pipe that only we hold open."""

import contextlib
import subprocess
import threading
from collections.abc import Iterator

# Reads which groups live; at the end of its input, which comes with our death however sudden, it ends them.
_SCRIPT = """
groups=
while read -r sign group; do
    case $sign in
        +) groups="$groups $group" ;;
        -) kept=; for one in $groups; do [ "$one" = "$group" ] || kept="$kept $one"; done; groups=$kept ;;
    esac
done
for one in $groups; do kill -15 "-$one" 2>/dev/null; done
tries=0
while [ -n "$groups" ] && [ "$tries" -lt 60 ]; do
    living=
    for one in $groups; do kill -0 "-$one" 2>/dev/null && living=1; done
    [ -n "$living" ] || exit 0
    sleep 0.1
    tries=$((tries + 1))
done
for one in $groups; do kill -9 "-$one" 2>/dev/null; done
"""


class Watchman:
    """The shell that outlives us, by a moment."""

    def __init__(self, process: subprocess.Popen[bytes] | None) -> None:
        self._process = process
        self._lock = threading.Lock()

    def began(self, group: int) -> None:
        """Tell of a group that lives."""
        self._say(f"+ {group}\n")

    def ended(self, group: int) -> None:
        """Tell of a group that is gone."""
        self._say(f"- {group}\n")

    def _say(self, line: str) -> None:
        if self._process and self._process.stdin:
            with self._lock, contextlib.suppress(OSError, ValueError):
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()


@contextlib.contextmanager
def watching() -> Iterator[Watchman]:
    """Have someone watch during a run; without a shell nobody does, and the run goes on."""
    try:
        process = subprocess.Popen(
            ["sh", "-c", _SCRIPT],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        yield Watchman(None)
        return
    try:
        yield Watchman(process)
    finally:
        with contextlib.suppress(OSError):
            process.communicate()
