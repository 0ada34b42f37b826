"""Every mutation, by name."""

from agent_sync.emulator.graphql.mutations import boards, issues, people, pulls, refs, reviews
from agent_sync.emulator.graphql.tables import Table

MUTATIONS: Table = (
    boards.MUTATIONS | issues.MUTATIONS | people.MUTATIONS | pulls.MUTATIONS | refs.MUTATIONS | reviews.MUTATIONS
)
