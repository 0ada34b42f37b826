"""A real browser, driven over its debugging pipe without any further package."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pytest

NAMES = ("chromium-headless-shell", "chromium", "google-chrome", "google-chrome-stable")
# Read once: tests run without the variables of the person who runs them.
NAMED, IS_REQUIRED = os.environ.get("AGENT_SYNC_BROWSER"), bool(os.environ.get("AGENT_SYNC_REQUIRE_BROWSER"))
MISSING = "no Chromium or Chrome on PATH (apt-get install chromium, or set AGENT_SYNC_BROWSER)"


def browser_path() -> str:
    """Return the browser's program; without one the test is skipped, or fails where a browser is required."""
    found = next(filter(None, map(shutil.which, [NAMED] if NAMED else NAMES)), None)
    if found is None:
        (pytest.fail if IS_REQUIRED else pytest.skip)(MISSING)
    return found


@dataclass
class Tab:
    """One tab; `complaints` are what the browser wrote to its console."""

    commands: IO[bytes]
    answers: IO[bytes]
    session: str = ""
    complaints: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    last: int = 0

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command of the debugging protocol and return its result."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        self.commands.write(
            json.dumps(message | ({"sessionId": self.session} if self.session else {})).encode() + b"\0"
        )
        self.commands.flush()
        while True:
            said = self._next()
            if said.get("id") == self.last:
                assert "error" not in said, said["error"]
                return dict(said["result"])

    def open(self, url: str, *, width: int = 1280, dark: bool = False) -> None:
        """Open a page in a window of that width and wait until it has loaded."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.events.clear()
        self.ask("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self._next()

    def value(self, expression: str) -> Any:
        """Return what a JavaScript expression is in the page."""
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])

    def _next(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self.answers.read(1)) != b"\0":
            assert byte, "the browser has ended"
            text += byte
        said: dict[str, Any] = json.loads(text)
        self._note(said)
        return said

    def _note(self, said: dict[str, Any]) -> None:
        self.events.append(said.get("method", ""))
        if said.get("method") == "Log.entryAdded":
            self.complaints.append(said["params"]["entry"]["text"])
        if said.get("method") in {"Runtime.consoleAPICalled", "Runtime.exceptionThrown"}:
            self.complaints.append(json.dumps(said["params"]))


KEYS = {"Tab": 9, "Enter": 13, "j": 74}


@contextmanager
def tab() -> Iterator[Tab]:
    """Start the browser with one tab, and end it."""
    path = browser_path()
    commands, answers = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = _started(path, Path(profile), commands[0], answers[1])
        with open(commands[1], "wb") as write, open(answers[0], "rb") as read:  # noqa: PTH123 - these are descriptors
            opened = Tab(write, read)
            target = opened.ask("Target.createTarget", url="about:blank")["targetId"]
            opened.session = opened.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Log", "Runtime"):
                opened.ask(f"{domain}.enable")
            try:
                yield opened
            finally:
                process.kill()
                process.wait()


def _started(path: str, profile: Path, commands: int, answers: int) -> subprocess.Popen[bytes]:
    """Start the browser; it reads commands from descriptor 3 and answers on descriptor 4."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]
    script = 'commands="$1" answers="$2"; shift 2; eval "exec \\"\\$@\\" 3<&$commands 4>&$answers"'
    process = subprocess.Popen(
        ["bash", "-c", script, "browser", str(commands), str(answers), path, *flags, f"--user-data-dir={profile}"],
        pass_fds=(commands, answers), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": str(profile)},
    )  # fmt: skip
    os.close(commands)
    os.close(answers)
    return process
