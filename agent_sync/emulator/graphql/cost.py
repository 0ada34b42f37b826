"""What a request costs by GitHub's published formula, and the most nodes it may ask for."""

from collections.abc import Iterable
from dataclasses import dataclass

from agent_sync.emulator.graphql.failures import failure
from agent_sync.emulator.graphql.selection import Selected

MOST_NODES = 500_000
POINTS_PER_REQUESTS = 100


@dataclass(frozen=True)
class Cost:
    """Points off the hourly budget, and how many nodes the answer may hold."""

    points: int
    nodes: int


def cost_of(fields: Iterable[Selected], most_nodes: int | None = None) -> Cost:
    """Count the connections of a document by how often each has to be read; refuse far too large ones.

    `most_nodes` is the weight above which GitHub gives up, long before the documented limit.
    """
    requests = nodes = 0
    for field in fields:
        if field.size is not None:
            requests += field.parents
            nodes += field.parents * field.size
    if nodes > MOST_NODES:
        raise failure(
            "MAX_NODE_LIMIT_EXCEEDED",
            f"This query requests up to {nodes:,} possible nodes which exceeds the maximum limit of {MOST_NODES:,}.",
        )
    if most_nodes is not None and nodes > most_nodes:
        raise failure("RESOURCE_LIMITS_EXCEEDED", "Resource limits for this query exceeded.")
    return Cost(max(1, round(requests / POINTS_PER_REQUESTS)), nodes)
