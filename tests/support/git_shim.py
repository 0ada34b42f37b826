"""A git that counts its calls, and kills its caller at one of them or puts it to sleep there."""

import os
import shutil
import signal
import time

from agent_sync.demo.stage import Stage

_GIT = """#!/bin/sh
[ -e "{at}" ] || exec {git} "$@"
printf . >>"{count}"
read -r number moment <"{at}"
[ "$(wc -c <"{count}")" -eq "$number" ] || exec {git} "$@"
case "$moment" in
  before) kill -9 $PPID; exit 137 ;;
  asleep-before)
    echo $PPID >"{asleep}"; kill -STOP $PPID
    while [ -e "{asleep}" ]; do sleep 0.02; done
    exec {git} "$@" ;;
esac
{git} "$@"
status=$?
case "$moment" in
  after) kill -9 $PPID ;;
  asleep-after) echo $PPID >"{asleep}"; kill -STOP $PPID ;;
esac
exit $status
"""


class GitShim:
    """A git on the PATH of a stage."""

    def __init__(self, stage: Stage) -> None:
        folder = stage.root.parent / "shim"
        self._at, self._count, self._asleep = folder / "at", folder / "count", folder / "asleep"
        if not folder.exists():
            folder.mkdir()
            program = folder / "git"
            program.write_text(
                _GIT.format(at=self._at, count=self._count, asleep=self._asleep, git=shutil.which("git"))
            )
            program.chmod(0o755)
        path = stage.environment["PATH"]
        if not path.startswith(f"{folder}:"):
            stage.environment["PATH"] = f"{folder}:{path}"

    def arm(self, number: int, moment: str) -> None:
        """Count from now on; at one call kill the caller, or put it to sleep, before git runs or after."""
        self._count.write_bytes(b"")
        self._at.write_text(f"{number} {moment}\n")

    def disarm(self) -> None:
        """Be git again."""
        self._at.unlink(missing_ok=True)

    def calls(self) -> int:
        """Return how often git was called."""
        return self._count.stat().st_size

    def is_asleep(self, limit_s: float = 20.0) -> bool:
        """Wait until the caller sleeps; tell whether it does, or has not come that far in time."""
        give_up = time.monotonic() + limit_s
        while time.monotonic() < give_up:
            if self._asleep.exists() and self._asleep.read_text().strip():
                return True
            time.sleep(0.01)
        return False

    def wake(self) -> None:
        """Let the caller go on."""
        sleeper = int(self._asleep.read_text())
        self._asleep.unlink()
        os.kill(sleeper, signal.SIGCONT)
