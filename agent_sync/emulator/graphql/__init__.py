"""GitHub's GraphQL interface over the world: parse, validate, run, answer in GitHub's shape."""

from agent_sync.emulator.graphql.execution import execute

__all__ = ["execute"]
