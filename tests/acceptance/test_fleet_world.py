"""A scripted fleet on the local GitHub, shown by every view as the world has it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from support.clients import Client, shared_nursery
from support.clones import SHORT, beside, long_ago, with_variables
from support.prove import PROVE
from support.stage import Theatre

from agent_sync.demo.stage import Played


@dataclass(frozen=True)
class Scripted:
    """One task of the script: its issue, whoever plays it, and its pull request once there is one."""

    issue: int
    agent: Theatre
    pull: int = 0

    def run(self, *arguments: str) -> Played:
        """Run a command that must work, in the worktree of this task."""
        played = self.agent.stage.command(*arguments)
        assert played.status == 0, (arguments, played.stderr)
        return played

    def act(self, what: str, /, **fields: object) -> None:
        """Do something on GitHub."""
        self.agent.stage.act(what, **fields)


Script = Callable[[Scripted], None]


def opened(task: Scripted, *options: str) -> Scripted:
    """Claim, work, and open a pull request."""
    task.run("claim", str(task.issue))
    task.agent.stage.commit(f"work-{task.issue}.txt", "work", "Work")
    task.run("handoff", "--summary", "Work", *options)
    return Scripted(task.issue, task.agent, task.agent.stage.claim()["pr_number"])


def checked(task: Scripted, *options: str, **fields: str) -> Scripted:
    """Open a pull request and let CI report."""
    found = opened(task, *options)
    found.act("add_check", pull=found.pull, name="test", **({"status": "completed"} | fields))
    return found


def coding(task: Scripted) -> None:
    """Only claim."""
    task.run("claim", str(task.issue))


def running(task: Scripted) -> None:
    """CI runs."""
    checked(task, status="in_progress")


def red(task: Scripted) -> None:
    """CI has failed, and the agent is there."""
    checked(task, conclusion="failure")


def green(task: Scripted) -> None:
    """CI has passed: a person merges."""
    checked(task, conclusion="success")


def draft(task: Scripted) -> None:
    """CI has passed on a draft: a person says that it is ready."""
    checked(task, "--draft", conclusion="success")


def changes(task: Scripted) -> None:
    """A reviewer wants changes."""
    found = checked(task, conclusion="success")
    found.act("review", pull=found.pull, state="CHANGES_REQUESTED", body="No.", by="mona")


def merged(task: Scripted) -> None:
    """The pull request is merged: a person says whether the issue is done."""
    found = checked(task, conclusion="success")
    found.act("merge_pull", pull=found.pull, method="squash")


def closed(task: Scripted) -> None:
    """Somebody has closed the pull request."""
    found = opened(task)
    found.act("close_pull", pull=found.pull)


def withdrawn(task: Scripted) -> None:
    """Somebody has closed the issue."""
    coding(task)
    task.act("close_issue", issue=task.issue)


def slung(task: Scripted) -> None:
    """The work waits on a worker's hook."""
    task.run("worker", "sling", str(task.issue), f"w{task.issue}")


def expired(task: Scripted) -> None:
    """The session is gone, and its lease has run out."""
    stage = with_variables(task.agent, **SHORT).stage
    session = Client(shared_nursery(), stage.root)
    with long_ago(task.agent):
        ran = session.do_there(stage.root, stage.environment, "claim", str(task.issue), stdin="")
    session.crash()
    assert ran.status == 0, ran.stderr


def finished(task: Scripted) -> None:
    """Merged and closed."""
    merged(task)
    task.run("sync")
    task.run("done", "--yes", "--now")


def blocked(task: Scripted) -> None:
    """Nobody can begin."""
    task.act("block_issue", issue=task.issue, blocked_by=40)


def ready(_task: Scripted) -> None:
    """Nobody has begun."""


# Each script with the lane in which a person looks for its task, or none.
SCRIPTS: dict[Script, str | None] = {
    coding: "working",
    green: "needs_you",
    running: "waiting",
    slung: "waiting",
    ready: "ready",
    blocked: None,
    merged: "needs_you",
    red: "working",
    draft: "needs_you",
    changes: "working",
    closed: "needs_you",
    withdrawn: "needs_you",
    expired: "needs_you",
    finished: None,
}
AFFORDABLE = (coding, green, running, slung, ready, blocked)


def play(theatre: Theatre, scripts: list[Script], *, homes: int) -> tuple[list[Theatre], dict[int, str]]:
    """Play each script in a worktree of its own, on one of several machines; return the machines and the lanes."""
    machines = [theatre, *(beside(theatre, f"home{number}") for number in range(1, homes))]
    expected: dict[int, str] = {}
    for number, script in enumerate(scripts):
        machine = machines[number % homes]
        issue = machine.stage.control("POST", "act", {"act": "add_issue", "title": script.__name__, "status": "Todo"})
        script(Scripted(issue["number"], worktree_of(machine, issue["number"])))
        lane = SCRIPTS[script]
        expected |= {issue["number"]: lane} if lane else {}
    return machines, expected


def worktree_of(machine: Theatre, issue: int) -> Theatre:
    """Return a worktree of a machine's clone for one agent."""
    root = machine.stage.root.parent / f"{machine.stage.root.name}-{issue}"
    machine.git("worktree", "add", "-q", "--detach", str(root), "origin/main")
    stage = machine.stage
    return Theatre(type(stage)(**(vars(stage) | {"root": root})))


def shown_by(machine: Theatre) -> dict[str, dict[int, str]]:
    """Return the lane of each task in every view of one machine, and hold the requests to their number."""
    values = {}
    for arguments in (("status", "--all", "--json"), ("watch", "--all", "--once", "--json")):
        played = machine.stage.command(*arguments)
        assert played.status == 0, played.stderr
        values[arguments[0]] = {task["issue"]: task["lane"] for task in json.loads(played.stdout)["tasks"]}
        if arguments[0] == "status":
            assert machine.operations() == ["Claims", "Board"]
    values["printed"] = printed_lanes(machine.stage.command().stdout)
    return values


def printed_lanes(text: str) -> dict[int, str]:
    """Return the lane below which each task is printed."""
    names = {"Needs you": "needs_you", "Working": "working", "Waiting": "waiting", "Ready": "ready"}
    found, lane = {}, ""
    for line in text.splitlines():
        lane = names.get(line.partition(" (")[0], lane)
        if line.startswith("#"):
            found[int(line[1:].split(" ")[0])] = lane
    return found


def compare(machines: list[Theatre], expected: dict[int, str], *, known: dict[int, str]) -> None:
    """Compare every view of every machine with the script."""
    for machine in machines:
        for name, lanes in shown_by(machine).items():
            assert lanes == known | expected, (machine.stage.root.name, name)


def test_every_view_shows_a_small_fleet_as_it_is(theatre):
    """Two machines, six tasks: each view of each machine has every task in the lane the world puts it into."""
    quick = with_variables(theatre, AGENT_SYNC_LEASE_ALLOWANCE_S="0")
    machines, expected = play(quick, list(AFFORDABLE), homes=2)
    compare(machines, expected, known={42: "ready", 43: "ready"})


@pytest.mark.skipif(not PROVE, reason="plays forty tasks: set AGENT_SYNC_PROVE")
def test_every_view_shows_a_large_fleet_as_it_is(theatre):
    """Three machines, twenty agents, forty tasks in all situations: nothing is in Needs you that a machine could do.

    And nothing is missing there that only a person can.
    """
    quick = with_variables(theatre, AGENT_SYNC_LEASE_ALLOWANCE_S="0")
    scripts = [list(SCRIPTS)[number % len(SCRIPTS)] for number in range(40)]
    machines, expected = play(quick, scripts, homes=3)
    compare(machines, expected, known={42: "ready", 43: "ready"})
    world: dict[str, Any] = theatre.stage.world()
    done = {issue["number"] for issue in world["issues"] if issue["state"] == "closed" and issue["title"] == "finished"}
    assert done
    assert not done & set(expected)
