"""What every resolver may use: the world, who asks, and under which address the answer is read."""

from dataclasses import dataclass, field
from typing import Any

from agent_sync.emulator.world.people import Role, Viewer
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World


@dataclass(frozen=True)
class Request:
    """One GraphQL request; `memory` keeps what git was asked already, for this request only."""

    world: World
    viewer: Viewer
    base_url: str
    cost: int = 1
    node_count: int = 0
    memory: dict[Any, Any] = field(default_factory=dict)

    def url(self, path: str) -> str:
        """Return a full address on the server that was asked."""
        return self.base_url.rstrip("/") + path

    def reaches(self, repository: Repository, role: Role) -> bool:
        """Say whether the viewer may do in a repository what a role may do."""
        return self.viewer.may_write and repository.role_of(self.viewer.user).reaches(role)
