"""Every mutation, by name."""

from agent_sync.emulator.graphql.mutations import (
    boards,
    branches,
    issue_fields,
    issues,
    people,
    pulls,
    queues,
    refs,
    reviews,
)
from agent_sync.emulator.graphql.tables import Table

MUTATIONS: Table = (
    boards.MUTATIONS
    | branches.MUTATIONS
    | issue_fields.MUTATIONS
    | issues.MUTATIONS
    | people.MUTATIONS
    | pulls.MUTATIONS
    | queues.MUTATIONS
    | refs.MUTATIONS
    | reviews.MUTATIONS
)
