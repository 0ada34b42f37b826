"""What every step of a task may cost at most: counts, which a busy machine does not change."""

from pathlib import Path

import pytest
from support.step_costs import MOST_REQUESTS, CostedRuns, counted_task

from agent_sync.demo.stage import stage

# For each step: modules loaded and git processes started, at most. `make bench` prints what they are, with the CPU.
BUDGETS = {
    "session start": (502, 3),
    "stop without a claim": (334, 2),
    "claim": (551, 10),
    "stop while coding": (368, 3),
    "prompt while coding": (351, 2),
    "tool while coding": (361, 2),
    "session start with a claim": (521, 12),
    "stop after a commit": (368, 7),
    "handoff": (414, 17),
    "stop that opens the pull request": (504, 12),
    "idle that polls": (476, 6),
    "idle inside the backoff": (354, 5),
    "idle inside the backoff, again": (38, 0),
    "status": (544, 11),
    "worker list": (451, 14),
    "record status": (416, 5),
    "idle that finds it merged": (475, 6),
    "done": (413, 5),
    "stop that closes": (504, 16),
}
GATE_RUN = (414, 13)
# A parser for constants, a command line nobody runs, retries nobody makes.
NEVER_LOADED = {"gql", "graphql", "pygments", "rich", "tenacity", "asyncio", "github", "truststore"}
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
    """No step loads more modules or starts more git processes than its budget, and none of them fails."""
    assert [one.step for one in costs.values() if one.status] == []
    spent = {step: (len(costs[step].modules), len(costs[step].git)) for step in BUDGETS}
    over = {step: (spent[step], most) for step, most in BUDGETS.items() if any(map(int.__gt__, spent[step], most))}
    assert over == {}, "spent and budget: see `make bench`"


def test_no_step_of_a_task_loads_what_it_does_not_use(costs):
    """Whatever a task does, it loads no package that only other commands use."""
    loaded = {one.step: sorted(NEVER_LOADED & set(one.modules)) for one in costs.values()}
    assert {step: names for step, names in loaded.items() if names} == {}


def test_a_gate_run_costs_no_more_than_it_may(tmp_path):
    """A run that finds nothing to check loads no record, and looks at the working directory once."""
    with stage(with_gate=True) as scenery:
        found = CostedRuns(scenery.root, scenery.environment, tmp_path / "runs").run(
            "gate run", "gate", "run", stdin=""
        )
    assert (found.status, len(found.git) <= GATE_RUN[1], len(found.modules) <= GATE_RUN[0]) == (0, True, True)
    assert [name for name in found.modules if name.startswith("agent_sync.record.")] == []
    assert sum(" status " in f" {call} " for call in found.git) == 1
