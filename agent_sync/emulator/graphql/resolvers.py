"""All tables together, and how the scalars of the schema are written."""

from collections import defaultdict
from datetime import UTC, date, datetime
from typing import Any

from agent_sync.emulator.graphql.fields import (
    boards,
    checks,
    commits,
    conversations,
    issue_fields,
    issues,
    people,
    pulls,
    queues,
    repositories,
    reviews,
    root,
)
from agent_sync.emulator.graphql.tables import Resolve, Table
from agent_sync.emulator.world.identity import timestamp

MODULES = (
    boards, checks, commits, conversations, issues, issue_fields, people, pulls, queues, repositories,
    reviews, root,
)  # fmt: skip

# Where a table says nothing, everything numbered answers these the same way.
COMMON: Table = {
    "databaseId": lambda thing, _: thing["databaseId"] if isinstance(thing, dict) else thing.identity.number,
    "fullDatabaseId": lambda thing, _: str(thing["databaseId"] if isinstance(thing, dict) else thing.identity.number),
    "issueCount": lambda page, _: page.total_count,
}


def tables() -> dict[str, Table]:
    """Return how each field of each type is read."""
    joined: dict[str, Table] = defaultdict(dict)
    for module in MODULES:
        for name, table in module.RESOLVERS.items():
            joined[name] |= table
    return joined


def written_moment(value: Any) -> str:
    """Write a moment as GitHub does: in UTC, whole seconds, with a Z."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return timestamp(moment.astimezone(UTC))


def written_day(value: date) -> str:
    """Write a day."""
    return value.isoformat()


SCALARS: dict[str, Resolve] = {"DateTime": written_moment, "Date": written_day}
RESOLVERS = tables()
