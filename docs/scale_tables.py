"""Computes what a fleet costs a repository and a token: the tables of docs/scale.md.

`python docs/scale_tables.py` prints them; `make docs` writes them into the page. Change a number here to see yours.
"""

import math
import random
from collections import Counter
from collections.abc import Callable

from agent_sync.gateway.many_cards import AT_ONCE
from agent_sync.leases.rules import RENEWALS_PER_TTL
from agent_sync.settings import Settings
from agent_sync.task.shared_looks import MOST_IN_A_ROW

# What GitHub documents; the first three are recommendations for one repository.
PUSHES_PER_MINUTE, GIT_OPERATIONS_PER_SECOND, MERGES_PER_HOUR = 6, 15, 60
BRANCHES = 5_000
POINTS_PER_HOUR = {"`GITHUB_TOKEN`": 1_000, "a person's token": 5_000, "a GitHub App, at most": 12_500}
CONTENT_PER_HOUR = 500
# GitHub's formula for our own documents, a hundred claims in each; the tests of the gateway compute the same.
CLAIMS_POINTS, CARDS_POINTS, BOARD_POINTS = 29, 2, 1
# Measured with git: what a push lists for each ref there is.
BYTES_PER_REF = 72

# What one agent does in an hour: assumptions, but for renewals and looks at its pull request.
LEASE = Settings().lease
RENEWALS = RENEWALS_PER_TTL * 3600 / LEASE.ttl_s
TASKS, HOURS_PER_DAY = 1, 8
PUSHES_PER_TASK, REQUESTS_PER_TASK, CONTENT_PER_TASK = 3, 10, 4
POLLS, FETCHES = 3600 / Settings().checks.backoff_s, 5
# Agents in worktrees of one clone: they renew in one push, and look in one request, but for every ninth look.
AGENTS_PER_CLONE = 20
ALONE_SHARE = 1 / (MOST_IN_A_ROW + 1)
CONTENT = TASKS * CONTENT_PER_TASK

AGENTS = (10, 100, 1_000)
# How long the refs of ended claims stay: with the Action, and as `agent-sync cleanup` keeps them.
DAYS = (1, LEASE.keep_ended_days)
CLAIMS = (10, 100, 1_000, 10_000)
# Of a hundred minutes so many stay below.
PERCENTILE = 0.99


def pushes(agents: int, *, per_clone: int = AGENTS_PER_CLONE) -> float:
    """Return the pushes of claim refs in an hour."""
    return math.ceil(agents / per_clone) * RENEWALS + agents * TASKS * PUSHES_PER_TASK


def points(agents: int, *, per_clone: int = AGENTS_PER_CLONE) -> float:
    """Return the points that tasks and looks at pull requests cost in an hour."""
    clones = math.ceil(agents / per_clone)
    together = math.ceil(agents / clones * CLAIMS_POINTS / AT_ONCE)
    looks = clones * POLLS * (1 - ALONE_SHARE) * together + agents * POLLS * ALONE_SHARE
    return (looks if agents > clones else agents * POLLS) + agents * TASKS * REQUESTS_PER_TASK


def agents_within(most: float, cost: Callable[[int], float]) -> int:
    """Return how many agents a limit bears."""
    agents = 0
    while cost(agents + 1) <= most:
        agents += 1
    return agents


def refs(agents: int, days: int) -> int:
    """Return how many claim refs there are when ended ones are kept for some days."""
    return agents + agents * TASKS * HOURS_PER_DAY * days


def git_operations(agents: int) -> float:
    """Return pushes and fetches in an hour."""
    return pushes(agents) + agents * FETCHES


def busiest_minute(agents: int, *, seed: int = 1) -> int:
    """Simulate a working day; return the pushes in a minute that 99 of 100 minutes do not exceed."""
    chance, counted = random.Random(seed), Counter[int]()  # noqa: S311  # a simulation, which must repeat itself
    minutes = HOURS_PER_DAY * 60
    for _ in range(round(pushes(agents) * HOURS_PER_DAY)):
        counted[int(chance.random() * minutes)] += 1
    return sorted(counted[minute] for minute in range(minutes))[math.ceil(minutes * PERCENTILE) - 1]


def agents_in_most_minutes() -> int:
    """Return how many agents stay within the recommended pushes in 99 of 100 minutes (Poisson)."""
    return agents_within(1 - PERCENTILE, lambda agents: 1 - _at_most(PUSHES_PER_MINUTE, pushes(agents) / 60))


def _at_most(count: int, mean: float) -> float:
    return sum(math.exp(-mean) * mean**n / math.factorial(n) for n in range(count + 1))


def run_requests(claims: int) -> int:
    """Return the requests of one run of the Action that finds nothing to repair, with a board."""
    parts = math.ceil(claims / AT_ONCE)
    # The settings file; claims and cards to compare; claims and the board to show.
    return 1 + parts + parts + parts + 1


def run_points(claims: int) -> int:
    """Return the points of the same run; the settings file is no GraphQL."""
    looks = 2 * math.ceil(claims * CLAIMS_POINTS / AT_ONCE)
    return looks + math.ceil(claims * CARDS_POINTS / AT_ONCE) + BOARD_POINTS


def fleet_table() -> str:
    """Return what a fleet asks of one repository and one token."""
    head = (
        "agents",
        "pushes/min",
        "busiest minute",
        "points/h",
        "content/h",
        "git operations/s",
        "refs, 1 day",
        "30 days",
    )
    rows = [
        (
            _number(agents), _number(pushes(agents) / 60), _number(busiest_minute(agents)), _number(points(agents)),
            _number(agents * CONTENT), _number(git_operations(agents) / 3600), _number(refs(agents, 1)),
            _number(refs(agents, LEASE.keep_ended_days)),
        )
        for agents in AGENTS
    ]  # fmt: skip
    return _table(head, rows)


def limit_table() -> str:
    """Return how many agents each limit bears."""
    git_limit, granted = GIT_OPERATIONS_PER_SECOND * 3600, POINTS_PER_HOUR.items()
    tokens = [(f"{_number(most)} points an hour", name, _number(agents_within(most, points))) for name, most in granted]
    rows = [
        ("6 pushes a minute, on average", "repository", _number(agents_within(PUSHES_PER_MINUTE * 60, pushes))),
        ("the same in 99 of 100 minutes", "repository", _number(agents_in_most_minutes())),
        ("60 merged pull requests an hour", "repository", _number(MERGES_PER_HOUR // TASKS)),
        ("15 git operations a second", "repository", _number(agents_within(git_limit, git_operations))),
        *((f"5,000 refs, days kept: {days}", "repository", _number(BRANCHES // refs(1, days))) for days in DAYS),
        ("500 requests an hour that create content", "account or App", _number(CONTENT_PER_HOUR // CONTENT)),
        *tokens,
    ]  # fmt: skip
    return _table(("limit", "of", "agents"), rows)


def claim_table() -> str:
    """Return what a number of claim refs costs every push and every run of the Action."""
    rows = []
    for claims in CLAIMS:
        points = run_points(claims)
        runs = (_number(most // points) for most in POINTS_PER_HOUR.values())
        listed = f"{_number(claims * BYTES_PER_REF / 1000)} kB"
        rows.append((_number(claims), listed, _number(run_requests(claims)), _number(points), *runs))
    runs = (f"runs/h, {name}" for name in POINTS_PER_HOUR)
    return _table(("claims", "listed to each push", "requests of a run", "points of a run", *runs), rows)


def together_table() -> str:
    """Return what it saves that agents in worktrees of one clone renew and look together."""
    rows = []
    for agents in AGENTS:
        shared, needed = pushes(agents) / 60, math.ceil(pushes(agents) / 60 / PUSHES_PER_MINUTE)
        alone = pushes(agents, per_clone=1) / 60, points(agents, per_clone=1)
        rows.append((_number(agents), *map(_number, (alone[0], shared, needed, alone[1], points(agents)))))
    head = ("agents", "pushes/min, a clone each", "20 in a clone", "repositories for 6/min", "points/h, a clone each")
    return _table((*head, "20 in a clone"), rows)


def scale_tables() -> dict[str, str]:
    """Return every table of the page by its name there."""
    return {"fleet": fleet_table(), "limits": limit_table(), "claims": claim_table(), "together": together_table()}


def _number(value: float) -> str:
    """Return a number as people read it: two digits below ten, whole above."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"  # noqa: PLR2004


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    for title, text in scale_tables().items():
        print(f"{title}\n\n{text}\n")
