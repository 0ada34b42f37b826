"""A terminal for one program: a tmux server of its own, which ends with it."""

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from waiting import soon, until

_COLUMNS, _LINES = 180, 60


@dataclass(frozen=True)
class Terminal:
    """What a human types, and what they see."""

    socket: Path

    @property
    def screen(self) -> str:
        """The screen as it is now."""
        return self._tmux("capture-pane", "-p", "-t", "only")

    @property
    def history(self) -> str:
        """The screen and what has scrolled out of it."""
        return self._tmux("capture-pane", "-p", "-S", "-", "-t", "only")

    @property
    def pid(self) -> int:
        """The process of the program."""
        return int(self._tmux("display-message", "-p", "-t", "only", "#{pane_pid}"))

    @property
    def has_ended(self) -> bool:
        """Whether the program is gone."""
        return self._tmux("display-message", "-p", "-t", "only", "#{pane_dead}").strip() == "1"

    def enter(self, text: str) -> None:
        """Type a line once it can be typed, and send it."""
        self.type(text)
        self._tmux("send-keys", "-t", "only", "Enter")

    def type(self, text: str) -> None:
        """Type without sending."""
        self._tmux("send-keys", "-t", "only", "-l", text)
        until(lambda: text in self.screen, f"{text!r} on the screen", lambda: self.screen)

    def wait_for(self, text: str) -> None:
        """Wait until a text was on the screen."""
        until(lambda: text in self.history, f"{text!r} on the screen", lambda: self.history)

    def shows(self, text: str) -> bool:
        """Tell whether a text comes to the screen within a moment."""
        return soon(lambda: text in self.history)

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *arguments], capture_output=True, text=True, check=False, timeout=30
        )
        return done.stdout


@contextmanager
def private_terminal(command: Sequence[str], *, cwd: Path, environment: dict[str, str]) -> Iterator[Terminal]:
    """Start a program in a terminal; its tmux server is gone when the context ends."""
    directory = Path(tempfile.mkdtemp(prefix="agent-sync-tmux-"))
    terminal = Terminal(directory / "socket")
    variables = [f"{name}={value}" for name, value in (environment | {"TERM": "tmux-256color"}).items()]
    line = shlex.join(["exec", "env", "-i", *variables, *command])
    options = ["-f", "/dev/null", "new-session", "-d", "-s", "only", "-x", str(_COLUMNS), "-y", str(_LINES)]
    stays = [";", "set-option", "-g", "remain-on-exit", "on"]
    start = ["tmux", "-S", str(terminal.socket), *options, "-c", str(cwd), line, *stays]
    subprocess.run(start, env=environment, check=True, timeout=30)
    try:
        yield terminal
    finally:
        subprocess.run(["tmux", "-S", str(terminal.socket), "kill-server"], capture_output=True, check=False)
        shutil.rmtree(directory, ignore_errors=True)
