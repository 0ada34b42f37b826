"""What every step of a task may cost at most: counts, which a busy machine does not change."""

import json
import subprocess
from pathlib import Path

import pytest
from support.step_costs import MOST_REQUESTS, CostedRuns, counted_task

from agent_sync.demo.stage import stage

# For each step, at most: modules loaded, git processes started, waits until the disk has something (`fsync`).
# `make bench` prints what they are, with the CPU.
BUDGETS = {
    "session start": (334, 2, 2),
    "stop without a claim": (223, 1, 0),
    "claim": (375, 7, 22),
    "stop while coding": (255, 1, 0),
    "prompt while coding": (227, 1, 0),
    "tool while coding": (248, 1, 0),
    "session start with a claim": (359, 6, 0),
    "stop after a commit": (255, 5, 2),
    "handoff": (309, 8, 10),
    "stop that opens the pull request": (336, 6, 8),
    "idle that polls": (305, 3, 8),
    "idle inside the backoff": (302, 1, 0),
    "idle inside the backoff, again": (38, 0, 0),
    "status": (384, 4, 0),
    "worker list": (403, 5, 1),
    "record status": (311, 1, 0),
    "idle that finds it merged": (305, 2, 12),
    "done": (301, 1, 6),
    "stop that closes": (343, 8, 12),
}
# A run of the gates on a branch with a commit and with edits that are not committed.
GATE_RUN = (256, 8)
GATE_DETECT = 4
# What reads files that are not ordinary, and what only other commands and reviews use.
NEVER_LOADED_BY_GATES = {"ruamel", "pydantic", "pydantic_core", "concurrent.futures", "agent_sync.hook_event"}
# A parser for constants, a command line nobody runs, retries nobody makes, clients for what one connection does, and
# what pydantic would look for plugins with.
NEVER_LOADED = {
    *("gql", "graphql", "pygments", "rich", "tenacity", "asyncio", "github", "truststore"),
    *("httpx", "httpcore", "h11", "anyio", "certifi", "idna", "requests", "urllib3", "urllib.request", "logging"),
    *("importlib.metadata", "importlib.resources", "zipfile"),
}
# The only steps that read or write what is not read by `plain/`: work hooks.
WITH_PYDANTIC = {"worker list"}
# The steps that every task has; the others of the play are further looks.
TASK = (
    "session start",
    "claim",
    "stop while coding",
    "stop after a commit",
    "handoff",
    "stop that opens the pull request",
    "idle that polls",
    "idle that finds it merged",
    "done",
    "stop that closes",
)
README = Path(__file__).parents[2] / "README.md"
WORDS = {9: "nine", 17: "seventeen"}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Play one task in fresh interpreters."""
    with stage() as scenery:
        runs = CostedRuns(scenery.root, scenery.environment, tmp_path_factory.mktemp("costs") / "runs")
        return {costs.step: (costs, asked) for costs, asked in counted_task(scenery, runs)}


@pytest.fixture(scope="module")
def costs(played):
    """What each step has cost."""
    return {step: one for step, (one, _) in played.items()}


def test_no_step_makes_more_requests_than_it_may(played):
    """No step makes more requests to the interface, or has git make more, than is documented."""
    over = {
        step: asked
        for step, (_, asked) in played.items()
        if asked.api > MOST_REQUESTS[step].api or asked.git > MOST_REQUESTS[step].git
    }
    assert over == {}


def test_the_readme_says_what_a_whole_task_may_ask():
    """The requests that the steps of a task may make, those of git included, add up to what the README promises."""
    api, git = (sum(getattr(MOST_REQUESTS[step], kind) for step in TASK) for kind in ("api", "git"))
    said = " ".join(README.read_text(encoding="utf-8").split())
    assert f"a whole task {WORDS.get(api, api)} requests to GitHub's API and {WORDS.get(git, git)} of git's" in said


def test_no_step_costs_more_than_it_may(costs):
    """No step loads more modules, starts more git processes or waits more often for the disk than its budget."""
    assert [one.step for one in costs.values() if one.status] == []
    spent = {step: (len(costs[step].modules), len(costs[step].git), costs[step].fsyncs) for step in BUDGETS}
    over = {step: (spent[step], most) for step, most in BUDGETS.items() if any(map(int.__gt__, spent[step], most))}
    assert over == {}, "spent and budget: see `make bench`"


def test_no_step_of_a_task_loads_what_it_does_not_use(costs):
    """Whatever a task does, it loads no package that only other commands use."""
    loaded = {one.step: sorted(NEVER_LOADED & set(one.modules)) for one in costs.values()}
    assert {step: names for step, names in loaded.items() if names} == {}


def test_hooks_do_not_load_what_dataclasses_would(costs):
    """No hook loads `inspect`, which takes longer than all dataclasses of a step; nothing loads them before ours."""
    hooks = [one for one in costs.values() if one.step.startswith(("session", "stop", "prompt", "tool", "idle"))]
    assert [one.step for one in hooks if "inspect" in one.modules] == []


def test_what_is_ordinary_is_read_without_pydantic(costs):
    """A poll, a merge noticed, a stop, a prompt and a session start read what agent-sync wrote without pydantic."""
    loaded = {one.step for one in costs.values() if {"pydantic", "pydantic_core"} & set(one.modules)}
    assert loaded == WITH_PYDANTIC


@pytest.fixture(scope="module")
def gate_costs(tmp_path_factory):
    """Run the gates on a branch of the clone's own, with work that is committed, edited and new."""
    with stage(with_gate=True) as scenery:
        branching = ["git", "checkout", "--quiet", "-b", "work"]
        subprocess.run(branching, cwd=scenery.root, env=scenery.environment, check=True)
        scenery.commit("work.py", "work = 1\n", "Work")
        (scenery.root / "work.py").write_text("work = 2\n", encoding="utf-8")
        (scenery.root / "new.py").write_text("new = 1\n", encoding="utf-8")
        runs = CostedRuns(scenery.root, scenery.environment, tmp_path_factory.mktemp("gates") / "runs")
        detected = runs.run("gate detect", "gate", "detect", "--json", stdin="")
        return detected, runs.run("gate run", "gate", "run", stdin="")


def test_a_gate_run_costs_no_more_than_it_may(gate_costs):
    """A run whose gate passes loads no record, stores no content, and compares the working directory twice."""
    _, found = gate_costs
    assert (found.status, "Passed" in found.output) == (0, True), found.output
    spent = (len(found.modules), len(found.git))
    assert not any(map(int.__gt__, spent, GATE_RUN)), f"{spent} for {GATE_RUN}: {found.git}"
    elsewhere = ("agent_sync.record.", "agent_sync.leases.", "agent_sync.gateway.")
    assert [name for name in found.modules if name.startswith(elsewhere)] == []
    assert (NEVER_LOADED_BY_GATES | {"inspect", "tempfile"}) & set(found.modules) == set()
    assert sum(" status " in f" {call} " for call in found.git) == 2
    assert sum(" write-tree " in f" {call} " for call in found.git) == 1


def test_detect_builds_no_tree(gate_costs):
    """Finding what changed starts few git processes, and none that stores anything."""
    found, _ = gate_costs
    assert (found.status, len(found.git) <= GATE_DETECT) == (0, True), found
    assert NEVER_LOADED_BY_GATES & set(found.modules) == set()
    assert set(json.loads(found.output)["files"]) == {"work.py", "new.py"}
    writing = ("add", "update-index", "write-tree", "hash-object -w")
    assert [call for call in found.git if any(f" {word} " in f" {call} " for word in writing)] == []
