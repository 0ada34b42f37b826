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


_REFUSING_GIT = """#!/bin/sh
for word in "$@"; do [ "$word" = push ] && pushes=1; done
[ "$pushes" ] && [ -e "{said}" ] || exec {git} "$@"
[ -e "{reason}" ] || {{ {git} "$@"; status=$?; cat "{said}" >&2; exit $status; }}
echo "$*" >>"{asked}"
reason=$(cat "{reason}")
[ "$reason" ] || {{ cat "{said}" >&2; exit 128; }}
for word in "$@"; do
  case "$word" in
    remote.*|--*) ;;
    *:refs/*) printf '!\\t%s\\t%s\\n' "$word" "$reason" ;;
  esac
done
cat "{said}" >&2
exit 1
"""


class RefusingGit:
    """A git on the PATH of a stage whose pushes are refused in given words; everything else is real."""

    def __init__(self, stage: Stage) -> None:
        folder = stage.root.parent / "refusing"
        self._said, self._reason, self._asked = folder / "said", folder / "reason", folder / "asked"
        folder.mkdir(exist_ok=True)
        program = folder / "git"
        text = _REFUSING_GIT.format(said=self._said, reason=self._reason, asked=self._asked, git=shutil.which("git"))
        program.write_text(text)
        program.chmod(0o755)
        stage.environment["PATH"] = f"{folder}:{stage.environment['PATH']}"

    def refuse(self, said: str, reason: str = "") -> None:
        """Answer every push with this text, and with a row for each ref where there is a reason."""
        self._asked.write_text("")
        self._reason.write_text(reason)
        self._said.write_text(said)

    def remark(self, said: str) -> None:
        """Let pushes through, and print this text after each."""
        self._reason.unlink(missing_ok=True)
        self._said.write_text(said)

    def allow(self) -> None:
        """Be git again."""
        self._said.unlink(missing_ok=True)

    def pushes(self) -> int:
        """Return how many pushes were refused since the last `refuse`."""
        return len(self._asked.read_text().splitlines())
