"""Runs the unmodified Claude Code client offline: an empty environment, a scratch home, a scripted model."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_request import ModelRequest
from private_terminal import Terminal, private_terminal
from scripted_model import ScriptedModel
from transcripts import injected_characters
from waiting import until

from agent_sync.demo.stage import Stage

_KEY = "sk-ant-scripted-model-00000000000000000000"
_IDLE_MS = 2000
# Nothing but loopback can be reached, and nothing is told to anybody.
_OFFLINE = {
    "ANTHROPIC_API_KEY": _KEY,
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,localhost",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "GIT_SSH_COMMAND": "/bin/false",
    # Containers often run everything as root, whom the client refuses its freer modes otherwise.
    "IS_SANDBOX": "1",
}
_STREAM = ("--output-format", "stream-json", "--verbose", "--include-hook-events")
# The client's default for terminals asks its maker's servers about every command.
_MANUAL = ("--permission-mode", "default")
# Where Bash is allowed, the scenario is about what hooks do; where it is not, about what `init` allows.
BASH = ("--allowedTools", "Bash")


@dataclass(frozen=True, repr=False)
class Run:
    """One run without a terminal: what the client printed, and its debug log."""

    status: int
    events: list[dict[str, Any]]
    stderr: str
    debug: str
    requests: list[ModelRequest]

    def hooks(self, event: str) -> list[dict[str, Any]]:
        """Return how the hooks of an event ended."""
        return [one for one in self.events if one.get("subtype") == "hook_response" and one["hook_event"] == event]

    @property
    def shown(self) -> str:
        """What the human is told beside the model's words."""
        return "\n".join(str(one.get("content")) for one in self.events if one.get("subtype") == "informational")

    @property
    def result(self) -> str:
        """The last words of the model."""
        return next((str(one.get("result")) for one in self.events if one.get("type") == "result"), "")

    @property
    def commands(self) -> list[str]:
        """The commands that can be typed after a slash."""
        return next((one["slash_commands"] for one in self.events if one.get("subtype") == "init"), [])

    @property
    def denials(self) -> list[str]:
        """What the client refused the model."""
        found = next((one.get("permission_denials") for one in self.events if one.get("type") == "result"), None)
        return [one["tool_name"] + " " + json.dumps(one["tool_input"]) for one in found or []]


@dataclass(frozen=True)
class ClaudeCode:
    """The client in one clone, with one scripted model."""

    program: Path
    stage: Stage
    model: ScriptedModel
    has_agent_sync: bool = True

    @property
    def home(self) -> Path:
        """The scratch home."""
        return Path(self.stage.environment["HOME"])

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment: of the machine only where programs lie, and the language."""
        return self.stage.environment | _OFFLINE | {"ANTHROPIC_BASE_URL": self.model.url, "PATH": self._path}

    def trust(self, *folders: Path) -> None:
        """Seed what the client would have asked at its first start, in these folders and the clone."""
        project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        values = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
            "projects": {str(folder): project for folder in (self.stage.root, *folders)},
            "messageIdleNotifThresholdMs": _IDLE_MS,
        }
        (self.home / ".claude.json").write_text(json.dumps(values), encoding="utf-8")

    def manage(self, *arguments: str) -> str:
        """Run a command of the client that is no session, such as `plugin list`, and return what it printed."""
        command = [str(self.program), *arguments]
        done = subprocess.run(
            command, cwd=self.stage.root, env=self.environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, prompt: str, *options: str, cwd: Path | None = None, allowed: tuple[str, ...] = BASH) -> Run:
        """Run one prompt to its end without a terminal."""
        before = len(self.model.turns)
        process = self.start(prompt, *options, cwd=cwd, allowed=allowed)
        try:
            stdout, stderr = process.communicate(timeout=240)
        finally:
            kill(process)
        events = [json.loads(line) for line in stdout.splitlines() if line.startswith("{")]
        debug = self._debug_file.read_text(encoding="utf-8")
        return Run(process.returncode, events, stderr, debug, self.model.turns[before:])

    def start(
        self, prompt: str, *options: str, cwd: Path | None = None, allowed: tuple[str, ...] = BASH
    ) -> "subprocess.Popen[str]":
        """Start one prompt without waiting for its end."""
        command = [str(self.program), "-p", prompt, *options, *_STREAM, "--debug-file", str(self._debug_file), *allowed]
        return subprocess.Popen(
            command,
            cwd=cwd or self.stage.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @contextmanager
    def terminal(self, *options: str, cwd: Path | None = None) -> Iterator[Terminal]:
        """Run the client in a terminal of its own, ready for the first prompt."""
        command = [str(self.program), "--debug-file", str(self._debug_file), *_MANUAL, *options, *BASH]
        with private_terminal(command, cwd=cwd or self.stage.root, environment=self.environment) as terminal:
            until(lambda: "❯" in terminal.screen, "the client's prompt", lambda: terminal.screen)
            yield terminal

    @property
    def injected(self) -> int:
        """The characters that hooks put into the model's context, as the client's own transcripts have them."""
        return injected_characters(self.home / ".claude" / "projects")

    @property
    def _debug_file(self) -> Path:
        return self.home / "debug.txt"

    @property
    def _path(self) -> str:
        """Where the client finds git and a shell, and agent-sync unless that is not installed."""
        programs = [shutil.which(name) for name in ("git", "sh", "cat")]
        folders = [str(Path(program).parent) for program in programs if program]
        own = [str(Path(sys.executable).parent)] if self.has_agent_sync else []
        return os.pathsep.join(dict.fromkeys([*own, *folders]))


def kill(process: "subprocess.Popen[str]") -> None:
    """Kill a client and all it started, as a crash of the machine would."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()
