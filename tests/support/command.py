"""Runs the installed command as Claude Code and people do."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Forked processes are not measured.
COVERAGE = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE")}
COMMAND = str(Path(sys.executable).with_name("agent-sync"))
FIXTURES = Path(__file__).parent.parent / "fixtures" / "claude-code"
HOOKS = ("on-stop", "on-idle", "session-start", "on-prompt", "on-tool")
EVENTS = {
    "on-stop": "Stop",
    "on-idle": "Notification",
    "session-start": "SessionStart",
    "on-prompt": "UserPromptSubmit",
    "on-tool": "PostToolUse",
}


@dataclass(frozen=True)
class Ran:
    """What a run of the command left."""

    status: int
    stdout: str
    stderr: str

    @property
    def reply(self) -> dict[str, Any]:
        """The JSON object on stdout, or an empty one for silence."""
        return dict(json.loads(self.stdout)) if self.stdout else {}

    @property
    def human(self) -> str:
        """What the human sees."""
        return str(self.reply.get("systemMessage", ""))

    @property
    def agent(self) -> str:
        """What the agent reads."""
        return str(self.reply.get("hookSpecificOutput", {}).get("additionalContext", ""))


def run(*arguments: str, cwd: Path, stdin: str | bytes = "", **environment: str) -> Ran:
    """Run the command line in a process of its own, forked where everything is loaded already."""
    if COVERAGE:
        return run_fresh(*arguments, cwd=cwd, stdin=stdin, **environment)
    # It needs the values of this module.
    from support.clients import shared_client

    given = stdin if isinstance(stdin, str) else stdin.decode("utf-8", "surrogateescape")
    return shared_client().do_there(cwd, dict(os.environ) | environment, *arguments, stdin=given)


def run_fresh(*arguments: str, cwd: Path, stdin: str | bytes = "", **environment: str) -> Ran:
    """Run the installed command in a fresh interpreter, where starting is what is tested."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [COMMAND, *arguments],
        cwd=cwd,
        input=given,
        capture_output=True,
        env=dict(os.environ) | environment,
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def fixture(name: str, cwd: Path) -> str:
    """Return a recorded input, moved to `cwd`."""
    values = json.loads((FIXTURES / f"{name}.json").read_text())
    return json.dumps(values | {"cwd": str(cwd)})


def settle(root: Path) -> None:
    """Make every watched file older than the kernel's clock tick, as a moment's work would."""
    past = time.time() - 10
    for path in (
        *root.glob(".agent-*"),
        *root.glob(".git/HEAD"),
        *root.glob(".git/config"),
        *root.glob(".git/agentsync/record"),
        *root.glob(".git/logs/HEAD"),
        *root.glob(".git/agentsync/outbox.json"),
    ):
        os.utime(path, (past, past))
