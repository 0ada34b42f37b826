"""Computes what a fleet costs a repository and a token: the tables of docs/scale.md.

`python docs/scale_tables.py` prints them; `make docs` writes them into the page. Change a number here to see yours.
"""

import math
import random
from collections import Counter

from agent_sync.gateway.many_cards import AT_ONCE
from agent_sync.leases.rules import RENEWALS_PER_TTL
from agent_sync.settings import Settings

# What GitHub documents; the first three are recommendations for one repository.
PUSHES_PER_MINUTE, GIT_OPERATIONS_PER_SECOND, MERGES_PER_HOUR = 6, 15, 60
BRANCHES = 5_000
POINTS_PER_HOUR = {"`GITHUB_TOKEN`": 1_000, "a person's token": 5_000, "a GitHub App, at most": 12_500}
CONTENT_PER_HOUR = 500
# GitHub's formula for our own documents, a hundred claims in each; the tests of the gateway compute the same.
CLAIMS_POINTS, CARDS_POINTS, BOARD_POINTS = 29, 2, 1
# Measured with git: what a push lists for each ref there is.
BYTES_PER_REF = 72

# What one agent does in an hour: assumptions, but for the renewals.
LEASE = Settings().lease
RENEWALS = RENEWALS_PER_TTL * 3600 / LEASE.ttl_s
TASKS, HOURS_PER_DAY = 1, 8
PUSHES_PER_TASK, REQUESTS_PER_TASK, CONTENT_PER_TASK = 3, 10, 4
POLLS, FETCHES = 30, 5
PUSHES = RENEWALS + TASKS * PUSHES_PER_TASK
POINTS = POLLS + TASKS * REQUESTS_PER_TASK
CONTENT = TASKS * CONTENT_PER_TASK

AGENTS = (10, 100, 1_000)
# How long the refs of ended claims stay: with the Action, and as `agent-sync cleanup` keeps them.
DAYS = (1, LEASE.keep_ended_days)
CLAIMS = (10, 100, 1_000, 10_000)
AGENTS_PER_MACHINE = 20
# Of a hundred minutes so many stay below.
PERCENTILE = 0.99


def refs(agents: int, days: int) -> int:
    """Return how many claim refs there are when ended ones are kept for some days."""
    return agents + agents * TASKS * HOURS_PER_DAY * days


def busiest_minute(agents: int, *, seed: int = 1) -> int:
    """Simulate a working day; return the pushes in a minute that 99 of 100 minutes do not exceed."""
    chance, pushes = random.Random(seed), Counter[int]()  # noqa: S311  # a simulation, which must repeat itself
    minutes = HOURS_PER_DAY * 60
    for _ in range(agents):
        for _ in range(round(PUSHES * HOURS_PER_DAY)):
            pushes[int(chance.random() * minutes)] += 1
    return sorted(pushes[minute] for minute in range(minutes))[math.ceil(minutes * PERCENTILE) - 1]


def agents_in_most_minutes(pushes: float) -> int:
    """Return how many agents stay within the recommended pushes in 99 of 100 minutes (Poisson)."""
    agents = 0
    while _at_most(PUSHES_PER_MINUTE, (agents + 1) * pushes / 60) >= PERCENTILE:
        agents += 1
    return agents


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
    """Return what a fleet asks of one repository and one token, each agent for itself."""
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
            _number(agents), _number(agents * PUSHES / 60), _number(busiest_minute(agents)), _number(agents * POINTS),
            _number(agents * CONTENT), _number(agents * (PUSHES + FETCHES) / 3600), _number(refs(agents, 1)),
            _number(refs(agents, LEASE.keep_ended_days)),
        )
        for agents in AGENTS
    ]  # fmt: skip
    return _table(head, rows)


def limit_table() -> str:
    """Return how many agents each limit bears."""
    rows = [
        ("6 pushes a minute, on average", "repository", _number(PUSHES_PER_MINUTE * 60 // PUSHES)),
        ("the same in 99 of 100 minutes", "repository", _number(agents_in_most_minutes(PUSHES))),
        ("60 merged pull requests an hour", "repository", _number(MERGES_PER_HOUR // TASKS)),
        ("15 git operations a second", "repository", _number(GIT_OPERATIONS_PER_SECOND * 3600 // (PUSHES + FETCHES))),
        *((f"5,000 refs, days kept: {days}", "repository", _number(BRANCHES // refs(1, days))) for days in DAYS),
        ("500 requests an hour that create content", "account or App", _number(CONTENT_PER_HOUR // CONTENT)),
        *((f"{_number(most)} points an hour", name, _number(most // POINTS)) for name, most in POINTS_PER_HOUR.items()),
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


def batched_table() -> str:
    """Return the pushes if the renewals of one machine were one push."""
    rows = []
    for agents in AGENTS:
        machines, tasks = math.ceil(agents / AGENTS_PER_MACHINE), agents * TASKS * PUSHES_PER_TASK / 60
        together = machines * RENEWALS / 60
        needed = math.ceil((together + tasks) / PUSHES_PER_MINUTE)
        rows.append((_number(agents), *map(_number, (agents * RENEWALS / 60, together, tasks, needed))))
    return _table(
        ("agents", "renewals/min alone", "renewals/min together", "tasks/min", "repositories for 6/min"), rows
    )


def scale_tables() -> dict[str, str]:
    """Return every table of the page by its name there."""
    return {"fleet": fleet_table(), "limits": limit_table(), "claims": claim_table(), "together": batched_table()}


def _number(value: float) -> str:
    """Return a number as people read it: two digits below ten, whole above."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"  # noqa: PLR2004


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    for title, text in scale_tables().items():
        print(f"{title}\n\n{text}\n")
