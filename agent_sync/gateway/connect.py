"""Puts the gateway of one worktree together: whose repository, which GitHub, which token."""

from typing import TYPE_CHECKING

from agent_sync.gateway.auth import find_token
from agent_sync.gateway.endpoint import endpoint_of
from agent_sync.gateway.github import GitHub
from agent_sync.gateway.line import Line
from agent_sync.gateway.port import Gateway
from agent_sync.gateway.repository import repository_of

if TYPE_CHECKING:
    from agent_sync.desk import Desk
    from agent_sync.gateway.persistence import Sleep


def connect(desk: "Desk", *, sleep: "Sleep | None" = None) -> Gateway:
    """Return GitHub as this worktree reaches it; nothing is sent before the first question."""
    remote = desk.settings.git.remote
    repository = repository_of(desk.git.remote_url(remote), remote=remote)
    endpoint = endpoint_of(repository, desk.settings.github.url)
    token = find_token(endpoint, desk.environment, desk.processes, directory=desk.place.root)
    return GitHub(Line(repository, endpoint, token, desk.settings, sleep))
