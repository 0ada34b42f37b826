"""Every step of a task at 0, 50 and 100 ms per request, over the floor of the same rounds; and what each counts."""

from collections import defaultdict
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path

from support.step_costs import MOST_REQUESTS, Asked, CostedRuns, StepCosts, counted_task, gate_run, whole_task

from agent_sync.demo.stage import Stage, stage
from benchmarks.figures import Row, Unit, multiple, multiples_row
from benchmarks.floor import floor_seconds
from benchmarks.recorded import SCRIPT
from benchmarks.turns import AGENT_SYNC, BARE, Effort, seconds, swapped

LATENCIES_MS = (0, 50, 100)
OVER_FLOOR = "Steps of a task, with so much added to every request"
LOCAL = "Steps of a task, without waiting"
REQUESTS = "Requests of a task"
REQUEST_KINDS = ("API", "git", "all")
COUNTS = "What a step loads, starts and flushes"
Limit = float | None

QUIET = (1.1, 1.1, 1.1)
ONE_REQUEST = (4.0, None, 3.0)
# At most, at each latency.
FLOORS: dict[str, tuple[Limit, ...]] = {
    "session start": ONE_REQUEST,
    "stop that opens the pull request": (None, None, 2.0),
    "idle that polls": ONE_REQUEST,
    "idle inside the backoff": QUIET,
    "idle inside the backoff, again": QUIET,
    "idle that finds it merged": ONE_REQUEST,
}
MOST_GIT = {"claim": 10, "handoff": 10, "stop that opens the pull request": 8, "gate run": 8}

Times = dict[tuple[str, int], dict[str, list[float]]]


@dataclass(frozen=True)
class TimedRuns:
    """Runs each step in turns with its floor and with a bare interpreter."""

    stage: Stage
    asked: dict[str, Asked]
    number: int

    @property
    def root(self) -> Path:
        """Where the steps run."""
        return self.stage.root

    def run(self, step: str, *arguments: str, stdin: str = "{}", **variables: str) -> tuple[str, dict[str, float]]:
        """Time one step, its floor and a bare interpreter."""
        environment, asked = self.stage.environment | variables, self.asked[step]
        floor = partial(floor_seconds, self.stage.url, requests=asked.api, git=asked.git)
        cases = {
            "step": partial(seconds, [AGENT_SYNC, *arguments], stdin=stdin),
            "floor": floor,
            "bare": partial(seconds, BARE),
        }
        order = swapped(list(cases), self.number)
        return step, {name: cases[name](cwd=self.root, environment=environment) for name in order}


def step_rows(scratch: Path, effort: Effort) -> list[Row]:
    """Play a task once to count, and then in rounds to time."""
    counted = counts(scratch / "counts")
    times = timed({step: asked for step, (_, asked) in counted.items()}, effort.steps)
    return [
        *(_over_floor(step, times) for step in counted),
        *(_local(step, times) for step in counted),
        *(_requests(step, asked) for step, (_, asked) in counted.items()),
        _whole([asked for _, asked in counted.values()]),
        *(_counted(costs) for costs, _ in counted.values()),
        _counted(gate_costs(scratch / "gate")),
    ]


def gate_costs(scratch: Path) -> StepCosts:
    """Run one gate and count."""
    with stage(with_gate=True) as scenery:
        return gate_run(scenery, CostedRuns(scenery.root, scenery.environment, scratch))


def counts(scratch: Path) -> dict[str, tuple[StepCosts, Asked]]:
    """Play one task and count."""
    with stage() as scenery:
        runs = CostedRuns(scenery.root, scenery.environment, scratch)
        return {costs.step: (costs, asked) for costs, asked in counted_task(scenery, runs)}


def timed(asked: dict[str, Asked], rounds: int) -> Times:
    """Play tasks at every latency, in turns."""
    times: Times = defaultdict(lambda: defaultdict(list))
    for number in range(rounds):
        for latency in swapped(list(map(str, LATENCIES_MS)), number):
            with stage() as scenery:
                scenery.control("POST", "latency", {"ms": int(latency)})
                for step, taken in whole_task(scenery, TimedRuns(scenery, asked, number)):
                    for name, took in taken.items():
                        times[step, int(latency)][name].append(took)
    return times


def _over_floor(step: str, times: Times) -> Row:
    found = {f"{ms} ms": multiple(times[step, ms]["step"], times[step, ms]["floor"]) for ms in LATENCIES_MS}
    script = (None, None, SCRIPT.step(step, "at_100_ms"))
    return multiples_row(OVER_FLOOR, step, Unit.FLOOR, found, script=script, at_most=FLOORS.get(step, ()))


def _local(step: str, times: Times) -> Row:
    found = {"0 ms": multiple(times[step, 0]["step"], times[step, 0]["bare"])}
    script = (SCRIPT.step(step, "local"),)
    return multiples_row(LOCAL, step, Unit.BARE, found, script=script, at_most=script)


def _requests(step: str, asked: Asked) -> Row:
    values = (asked.api, asked.git, asked.api + asked.git)
    script = (None, None, SCRIPT.step(step, "requests"))
    return Row(REQUESTS, step, Unit.COUNT, REQUEST_KINDS, values, script=script, at_most=astuple(MOST_REQUESTS[step]))


def _whole(asked: list[Asked]) -> Row:
    api, git = sum(one.api for one in asked), sum(one.git for one in asked)
    return Row(REQUESTS, "all of the above", Unit.COUNT, REQUEST_KINDS, (api, git, api + git))


def _counted(costs: StepCosts) -> Row:
    values = (len(costs.modules), len(costs.git), costs.fsyncs)
    points = ("modules", "git processes", "fsyncs")
    return Row(COUNTS, costs.step, Unit.COUNT, points, values, at_most=(None, MOST_GIT.get(costs.step), None))
