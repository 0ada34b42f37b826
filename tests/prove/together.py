"""The families in which many act at once: twenty hooks of one worktree, and fleets whose commands are killed at random."""

import functools
import json
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from support.clients import Client, Nursery
from support.clones import beside
from support.stage import QuickStage, Theatre
from support.whole_task import BY_NAME, STEPS, Play, Step, whole_task
from support.whole_world import Findings, findings

from prove.case import Case, Ending, Family
from prove.disturbing import judged, kill_running

HOOKS = 20
# Hooks of every kind, and what a person may type meanwhile.
KINDS = ("on-stop", "on-idle", "on-tool", "on-prompt", "session-start", "sync")
SEEDS = range(6)
AGENTS = 6
STORMS = range(20)
FAULTS = ("drop_before", "drop_after_apply", "status:502", "delay:0.2", "truncate")
# A command that was killed this often is let through.
MOST_KILLS = 3


def _crowded(nursery: Nursery, step: str, seed: int) -> Ending:
    """Play a task in which twenty hooks run at once where one would do."""
    dice = random.Random(seed)  # noqa: S311  # a repeatable crowd, not a secret
    kinds = [dice.choice(KINDS) for _ in range(HOOKS)]

    def disturb(play: Play, step: Step) -> None:
        clients = [Client(nursery, play.stage.root) for _ in range(HOOKS)]
        arguments = [(step.arguments[0],), *((kind,) for kind in kinds[1:])]
        with ThreadPoolExecutor(HOOKS) as pool:
            runs = [pool.submit(_hook, play, client, one) for client, one in zip(clients, arguments, strict=True)]
        play.told += [run.result() for run in runs]
        for client in clients:
            client.close()

    with whole_task(nursery) as play:
        play.perform(step, disturb)
        return judged(findings(play), tries=HOOKS)


def _hook(play: Play, client: Client, arguments: tuple[str, ...]) -> str:
    stdin = play.stdin(BY_NAME["stop"])
    ran = client.do_there(play.stage.root, play.stage.environment, *arguments, stdin=stdin)
    return ran.stdout + ran.stderr


CROWDED = tuple(step.name for step in STEPS if step.is_hook and step.name != "session")


def _crowd_case(name: str) -> Case:
    step, seed = name.split("/")
    return Case(name, functools.partial(_crowded, step=step, seed=int(seed)), 25.0)


@dataclass
class Agent:
    """One agent of a fleet, on a machine of its own, with an issue of its own."""

    issue: int
    theatre: Theatre
    client: Client
    dice: random.Random
    kills: int = 0
    # How the last command that did not succeed has ended.
    last: str = ""

    def run(self, *arguments: str, stdin: str = "") -> None:
        """Run a command again, as people and agents do, until it was neither killed nor has failed."""
        given = stdin or json.dumps({"session_id": f"s{self.issue}", "cwd": str(self.theatre.stage.root)})
        for attempt in range(MOST_KILLS * 2):
            killer = threading.Timer(self.dice.random() ** 2 * 1.5, self._kill) if self._is_killed(attempt) else None
            if killer:
                killer.start()
            status, stdout, stderr = self.theatre.stage.run(*arguments, stdin=given)
            if killer:
                killer.cancel()
                killer.join()
            if status == 0:
                return
            self.last = f"{' '.join(arguments)} ended with {status}: {stdout[-200:]}{stderr[-200:]}"

    def _is_killed(self, attempt: int) -> bool:
        return attempt < MOST_KILLS and self.dice.random() < 0.4

    def _kill(self) -> None:
        self.kills += kill_running(self.client, wait_s=0)

    def finish(self) -> None:
        """Take a task from claim to close, whatever happens on the way."""
        stage = self.theatre.stage
        self.run("claim", str(self.issue))
        stage.commit(f"work-{self.issue}.txt", "work\n", f"Work on {self.issue}")
        self.run("handoff", "--later", "--summary", "-", stdin="Work")
        self.until(lambda: bool(self.pulls()), "on-stop")
        if not self.pulls():
            return
        stage.act("merge_pull", pull=self.pulls()[0]["number"], method="merge")
        self.run("on-idle")
        self.run("done", "--later")
        self.until(lambda: stage.claim() is None, "on-stop")
        self.run("on-stop")

    def until(self, is_so: Callable[[], bool], hook: str) -> None:
        """Let events come, as they do in every session, until something is so; a few must be enough."""
        for _ in range(6):
            self.run(hook)
            if is_so():
                return
            self.theatre.stage.run("session-start", stdin="{}")

    def pulls(self) -> list[dict[str, object]]:
        """Return the pull requests of this agent's branch."""
        return [pull for pull in self.theatre.pulls() if str(pull["head"]).endswith(f"-{self.issue}")]


def _stormy(nursery: Nursery, seed: int) -> Ending:
    """Let a fleet work while its commands are killed and GitHub's answers are lost at random, and count what is there."""
    dice = random.Random(seed)  # noqa: S311  # a repeatable storm, not a secret
    with whole_task(nursery) as play:
        agents = [_agent(play, number, dice) for number in range(AGENTS)]
        play.strikes.begin(lambda _: dice.choice(FAULTS) if dice.random() < 0.05 else None)
        with ThreadPoolExecutor(AGENTS) as pool:
            for ended in [pool.submit(agent.finish) for agent in agents]:
                ended.result()
        play.strikes.begin()
        found = Findings()
        for agent in agents:
            _look(agent, found)
            agent.client.close()
        return judged(found, tries=sum(agent.kills for agent in agents))


def _agent(play: Play, number: int, dice: random.Random) -> Agent:
    added = play.stage.control("POST", "act", {"act": "add_issue", "title": f"Task {number}", "status": "Todo"})
    plain = {name: value for name, value in play.stage.environment.items() if name != "AGENT_SYNC_WORKER"}
    machine = beside(Theatre(QuickStage(play.stage.url, play.stage.root, plain, play.stage.client)), f"agent{number}")
    client = Client(play.nursery, machine.stage.root)
    stage = QuickStage(machine.stage.url, machine.stage.root, machine.stage.environment, client)
    return Agent(added["number"], Theatre(stage), client, random.Random(dice.random()))  # noqa: S311


def _look(agent: Agent, found: Findings) -> None:
    number, theatre = agent.issue, agent.theatre
    found.expect_one(len(agent.pulls()), f"pull request of #{number} ({agent.last})")
    found.expect_one(len(theatre.comments(number)), f"closing comment on #{number}")
    issue, card = theatre.issue(number), theatre.card(number)
    found.expect(issue["state"] == "closed", f"#{number} is {issue['state']}")
    found.expect_one(len(issue["assignees"]), f"assignee of #{number}")
    found.expect(card == {"Status": "Done"}, f"the card of #{number} shows {card}")
    found.expect(theatre.stage.claim() is None, f"the claim file of #{number} is still there")
    theatre.git("fetch", "-q", "origin", "+refs/agentsync/*:refs/proof/*", "+refs/heads/*:refs/remotes/origin/*")
    lease = json.loads(theatre.git("show", f"refs/proof/claims/{number}:claim.json"))
    found.expect(lease["state"] == "done", f"the lease of #{number} is {lease['state']}")
    found.expect(
        f"Work on {number}" in theatre.git("log", "--format=%s", "origin/main"), f"the commit of #{number} is gone"
    )


TOGETHER = (
    Family(
        "hooks-at-once",
        "twenty hooks and commands of one worktree run at once",
        lambda _: [f"{step}/{seed}" for step in CROWDED for seed in SEEDS],
        _crowd_case,
    ),
    Family(
        "kill-storm",
        "six agents on six machines work while their commands are killed and answers lost at random",
        lambda _: [str(seed) for seed in STORMS],
        lambda name: Case(name, functools.partial(_stormy, seed=int(name)), 45.0),
    ),
)
