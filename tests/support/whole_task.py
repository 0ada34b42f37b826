"""A whole task with gate, record, lease and work hook on the local GitHub, in which one step can be disturbed."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from support.clients import Client, Nursery
from support.scratch_processes import kill_all
from support.stage import QuickStage, Theatre

from agent_sync.demo.stage import add_gate, cloned
from agent_sync.emulator.faults import FaultList, Request
from agent_sync.emulator.server import running

SESSION = "5e551000-0000-4000-8000-000000000001"
# An idle hook that has nothing to say ends; the real one waits for hours.
VARIABLES = {"AGENT_SYNC_WORKER": "w1", "AGENT_SYNC_HOOKS_IDLE_DEADLINE_S": "3", "PYTHONDONTWRITEBYTECODE": "1"}
PULL = 45


@dataclass(frozen=True)
class Step:
    """One command of the task, and what people, CI and the agent do before it."""

    name: str
    arguments: tuple[str, ...]
    stdin: str = ""
    before: str = ""

    @property
    def is_hook(self) -> bool:
        """Whether Claude Code runs it, and not a person or the agent."""
        return self.arguments[0].startswith(("on-", "session-"))


STEPS = (
    Step("sling", ("worker", "sling", "42", "w1")),
    Step("session", ("session-start",)),
    Step("take", ("worker", "take")),
    Step("tool", ("on-tool",), before="commit"),
    Step("stop", ("on-stop",)),
    Step("handoff", ("handoff", "--later", "--summary", "-"), stdin="Fix the race"),
    Step("open", ("on-stop",)),
    Step("idle", ("on-idle",), before="red"),
    Step("handoff-again", ("handoff", "--later", "--summary", "-"), stdin="Fix the race again", before="mend"),
    Step("update", ("on-stop",)),
    Step("watch", ("on-idle", "--rewake"), before="merge"),
    Step("done", ("done", "--later")),
    Step("close", ("on-stop",)),
)
BY_NAME = {step.name: step for step in STEPS}
# What comes by itself in every session, and delivers what still waits.
LATER = (Step("prompt", ("on-prompt",)), Step("stop", ("on-stop",)), Step("idle", ("on-idle",)))


class Strikes(FaultList):
    """The requests of one step, counted; at one of them something may happen."""

    def __init__(self) -> None:
        super().__init__()
        self._counting = threading.Lock()
        self.begin()

    def begin(self, strike: Callable[[int], str | None] | None = None) -> None:
        """Count from one again, and ask for each request what goes wrong with it."""
        self.seen: list[str] = []
        self._strike = strike

    def take(self, request: Request) -> str | None:
        """Return the trouble meant for a request."""
        with self._counting:
            self.seen.append(request.operation or request.path)
            number = len(self.seen)
        return (self._strike(number) if self._strike else None) or super().take(request)


@dataclass
class Play:
    """One performance of the task; `told` is everything that commands and hooks have printed."""

    nursery: Nursery
    stage: QuickStage
    strikes: Strikes
    told: list[str] = field(default_factory=list)

    @property
    def theatre(self) -> Theatre:
        """The stage with the words of a test."""
        return Theatre(self.stage)

    @property
    def home(self) -> Path:
        """Where the person's records are."""
        return Path(self.stage.environment["HOME"])

    def stdin(self, step: Step) -> str:
        """Return what a command reads."""
        return json.dumps({"session_id": SESSION, "cwd": str(self.stage.root)}) if step.is_hook else step.stdin

    def prepare(self, step: Step) -> None:
        """Do what people, CI and the agent do before a step, once."""
        match step.before:
            case "commit":
                self.stage.commit("fix.py", "fix\n", "Fix")
            case "mend":
                self.stage.commit("mend.py", "mend\n", "Mend")
            case "red":
                self.stage.act("add_check", pull=PULL, name="test", status="completed", conclusion="failure")
            case "merge":
                self.stage.act("merge_pull", pull=PULL, method="merge")
            case _:
                pass

    def run(self, step: Step, **variables: str) -> int:
        """Run a step to its end; return its exit status."""
        status, stdout, stderr = self._with(variables).run(*step.arguments, stdin=self.stdin(step))
        self.told.append(stdout + stderr)
        return status

    def _with(self, variables: dict[str, str]) -> QuickStage:
        stage = self.stage
        return QuickStage(stage.url, stage.root, stage.environment | variables, stage.client)

    def perform(self, disturbed: str = "", disturb: Callable[["Play", Step], None] | None = None) -> None:
        """Play all steps; the disturbed one goes wrong first, then ordinary events follow."""
        for step in STEPS:
            self.prepare(step)
            if disturb and step.name == disturbed:
                disturb(self, step)
                self.begin_again()
            self.run(step)
        for step in LATER:
            self.run(step)

    def begin_again(self) -> None:
        """Let some minutes pass, and a new session begin."""
        self.let_time_pass()
        self.stage.client.close()
        self.stage = QuickStage(
            self.stage.url, self.stage.root, self.stage.environment, Client(self.nursery, self.stage.root)
        )
        self.run(BY_NAME["session"])

    def let_time_pass(self) -> None:
        """Make what was left look as it does later: temporaries are old, limits of GitHub are over."""
        self.strikes.begin()
        for path in self.litter():
            os.utime(path, (time.time() - 300,) * 2)
        (self.home / ".atlas" / "budget.json").unlink(missing_ok=True)
        if (self.stage.claim() or {}).get("not_before"):
            self.theatre.edit_claim(not_before=None)

    def litter(self) -> list[Path]:
        """Return the temporaries that lie in the clone and in the home."""
        return [*self.stage.root.rglob("*.tmp"), *self.home.rglob("*.tmp")]

    def fresh(self, *before: str, step: Step, **variables: str) -> int:
        """Run a step in a fresh interpreter, below another program such as strace."""
        done = subprocess.run(
            [*before, sys.executable, "-m", "agent_sync", *step.arguments],
            cwd=self.stage.root,
            env=self.stage.environment | {"PYTHONHASHSEED": "0"} | variables,
            input=self.stdin(step),
            text=True,
            capture_output=True,
            check=False,
            timeout=120,
        )
        self.told.append(done.stdout + done.stderr)
        return done.returncode


@contextlib.contextmanager
def whole_task(nursery: Nursery, directory: Path | None = None) -> Iterator[Play]:
    """Set up a clone with a gate and with work of the person's own in it, and take it down again."""
    place = directory or Path(tempfile.mkdtemp(prefix="agent-sync-prove-"))
    try:
        with running("small") as server:
            strikes = server.control.faults = Strikes()
            scenery = cloned(server.url, place)
            add_gate(scenery)
            own_work(scenery.root, scenery.environment)
            client = Client(nursery, scenery.root)
            play = Play(
                nursery, QuickStage(scenery.url, scenery.root, scenery.environment | VARIABLES, client), strikes
            )
            try:
                yield play
            finally:
                play.stage.client.close()
                kill_all(play.home)
    finally:
        if directory is None:
            shutil.rmtree(place, ignore_errors=True)


def own_work(root: Path, environment: dict[str, str]) -> None:
    """Leave a stash, an unpushed branch and a file that is ignored: nothing of it may ever change."""

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=root, env=environment, check=True, capture_output=True)

    with (root / ".git" / "info" / "exclude").open("a", encoding="utf-8") as exclude:
        exclude.write("notes.txt\n")
    (root / "notes.txt").write_text("my own notes\n", encoding="utf-8")
    git("switch", "-q", "-c", "mine")
    git("commit", "-q", "--allow-empty", "-m", "Unpushed work of mine")
    (root / "half.txt").write_text("half done\n", encoding="utf-8")
    git("stash", "push", "-q", "--include-untracked")
    git("switch", "-q", "main")
