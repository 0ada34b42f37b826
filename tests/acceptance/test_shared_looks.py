"""Idle sessions of one clone with open pull requests: they look together, and only what has moved is asked for alone."""

import json
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

import pytest
from support.clones import with_variables
from support.neighbours import INSIDE, SESSION, claimed, new_issues, state_of, wait_until
from support.prove import PROVE
from support.sessions import Client
from support.stage import Theatre

from agent_sync.system import clock

MANY = 10 if PROVE else 3
WAKE = 2
# What a look of its own asks for, and what a shared one does.
ALONE, TOGETHER, BRANCH = "Poll", "Claims", "BranchPull"


@pytest.fixture
def opened(theatre):
    """Open pull requests in worktrees of their own; return a function that does, for so many."""

    def worktrees(count):
        with Client(theatre, SESSION, **INSIDE) as client:
            found = claimed(theatre, client, *new_issues(theatre, count))
        for worktree in found:
            worktree.stage.commit(f"{worktree.stage.root.name}.txt", "work", "Work")
            # A person's handoff opens the pull request at once.
            person = with_variables(worktree, **dict.fromkeys(INSIDE, ""))
            assert person.stage.command("handoff", "--summary", "Work").status == 0
            number = worktree.stage.claim()["pr_number"]
            worktree.stage.act("add_check", pull=number, name="unit", status="completed", conclusion="success")
            worktree.edit_claim(last_check_poll=None)
        return found

    return worktrees


class Watcher:
    """The watcher of one worktree, as a process that the test ends."""

    def __init__(self, worktree: Theatre) -> None:
        self.worktree = worktree
        self.process = worktree.popen("on-idle", "--rewake")
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"cwd": str(worktree.stage.root), "session_id": "s"}).encode())
        self.process.stdin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(30)
        assert self.process.stdout
        assert self.process.stderr
        self.process.stdout.close()
        self.process.stderr.close()

    @property
    def is_asleep(self) -> bool:
        """Whether it waits for the next look; it must not have ended."""
        assert self.process.poll() is None, (self.worktree.stage.root.name, self.process.returncode)
        return b"asleep.py" in Path(f"/proc/{self.process.pid}/cmdline").read_bytes()

    @property
    def looked_at(self) -> datetime:
        """When its claim was last looked at."""
        return datetime.fromisoformat(self.worktree.stage.claim()["last_check_poll"])


def look_at(worktrees, at):
    """Set the moment of the last look, as if a look had taken place then."""
    for worktree in worktrees:
        worktree.edit_claim(last_check_poll=at.isoformat())


def looks(theatre):
    """Return which looks at pull requests GitHub has answered."""
    return [operation for operation in theatre.operations() if operation in {ALONE, TOGETHER}]


def watched(stack, worktrees):
    """Start a watcher in each worktree and wait until all of them sleep."""
    found = [stack.enter_context(Watcher(worktree)) for worktree in worktrees]
    wait_until(lambda: all(watcher.is_asleep for watcher in found))
    return found


def have_looked(watchers, since):
    """Wait until every watcher has looked since a moment and sleeps again."""
    wait_until(lambda: all(watcher.is_asleep and watcher.looked_at > since for watcher in watchers))


def ago(seconds):
    """Return a moment so long before now; a look is due two minutes after the last one."""
    return clock.now() - timedelta(seconds=seconds)


def test_watchers_ask_once_and_only_what_has_moved_is_asked_for_alone(theatre, opened):
    """Claims that fall due are one request for all; an edit, a failure and a pause reach those whom they concern."""
    worktrees = opened(MANY)
    with ExitStack() as stack:
        watchers = watched(stack, worktrees)
        theatre.git("switch", "-q", "-c", "side")
        theatre.hook("on-idle")
        assert BRANCH in theatre.operations()
        look_together_at_different_moments(theatre, watchers)
        keep_looks_at_branches_apart(theatre)
        look_alone_after_an_edit(theatre, watchers[0])
        failed, others = watchers[-1], watchers[:-1]
        wake_by_a_failure(theatre, failed, others)
        pause_together(theatre, others)
        come_back_together(theatre, others)


def look_together_at_different_moments(theatre, watchers):
    """Whoever falls due takes along what falls due soon: the others take the answer, and all stay together."""
    theatre.stage.control("DELETE", "requests")
    now = clock.now()
    look_at([watcher.worktree for watcher in watchers[1:]], ago(104))
    look_at([watchers[0].worktree], ago(114))
    have_looked(watchers, now)
    assert looks(theatre) == [TOGETHER]
    assert len({watcher.looked_at for watcher in watchers}) == 1


def keep_looks_at_branches_apart(theatre):
    """The main checkout, which holds no claim, remembers when it asked for the pull request of its own branch."""
    theatre.stage.control("DELETE", "requests")
    theatre.hook("on-idle")
    assert theatre.operations() == []


def look_alone_after_an_edit(theatre, watcher):
    """A moment of the last look that a person takes out is a look of its own."""
    theatre.stage.control("DELETE", "requests")
    now = clock.now()
    watcher.worktree.edit_claim(last_check_poll=None)
    wait_until(lambda: watcher.worktree.stage.claim()["last_check_poll"])
    have_looked([watcher], now)
    assert looks(theatre) == [ALONE]


def wake_by_a_failure(theatre, failed, others):
    """Several claims fall due: one request for all; a failure wakes the session of its claim, which alone asks again."""
    number = failed.worktree.stage.claim()["pr_number"]
    theatre.stage.act("add_check", pull=number, name="lint", status="completed", conclusion="failure")
    theatre.stage.control("DELETE", "requests")
    due = ago(116)
    look_at([failed.worktree, *(watcher.worktree for watcher in others)], due)
    assert failed.process.wait(120) == WAKE
    assert failed.process.stderr
    assert '"lint"' in failed.process.stderr.read().decode()
    have_looked(others, due)
    assert looks(theatre) == [TOGETHER, ALONE]
    assert len({watcher.looked_at for watcher in others}) == 1
    assert all(watcher.process.poll() is None for watcher in others)


def pause_together(theatre, watchers):
    """A pause that GitHub asks for is noted by all who share the look."""
    theatre.stage.control("DELETE", "requests")
    theatre.fault("secondary_limit", operation=TOGETHER)
    look_at([watcher.worktree for watcher in watchers], ago(116))
    wait_until(lambda: all(watcher.worktree.stage.claim().get("not_before") for watcher in watchers))
    assert looks(theatre) == [TOGETHER]


def come_back_together(theatre, watchers):
    """After the pause the first one to come back asks for all, who each come back at a moment of their own."""
    looks_file = theatre.stage.root / ".git" / "agentsync" / "looks.json"
    looks_file.write_text(json.dumps(json.loads(looks_file.read_text()) | {"paused_until": None}))
    theatre.stage.control("DELETE", "requests")
    now = clock.now()
    for number, watcher in enumerate(watchers):
        moments = {"last_check_poll": ago(118), "not_before": now + timedelta(seconds=3 + 3 * number)}
        edited = watcher.worktree.stage.claim() | {name: moment.isoformat() for name, moment in moments.items()}
        # An edit of the file alone cannot put a pause in.
        for file in state_of(watcher.worktree) / "claim.base.json", watcher.worktree.stage.root / ".agent-claim.json":
            file.write_text(json.dumps(edited))
    have_looked(watchers, now)
    assert looks(theatre) == [TOGETHER]
