"""Puts the gateway of one worktree together: whose repository, which GitHub, which token."""

from typing import TYPE_CHECKING

from agent_sync.gateway.github import GitHub
from agent_sync.gateway.port import Gateway
from agent_sync.gateway.transport.auth import find_token
from agent_sync.gateway.transport.endpoint import Endpoint, NamedBy, endpoint_of
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.repository import Repository, repository_of
from agent_sync.settings import Origin

if TYPE_CHECKING:
    from agent_sync.context import Desk
    from agent_sync.gateway.transport.persistence import Sleep


def connect(desk: "Desk", *, sleep: "Sleep | None" = None) -> Gateway:
    """Return GitHub as this worktree reaches it; nothing is sent before the first question."""
    repository, endpoint = addressed(desk)
    token = find_token(endpoint, desk.environment, desk.processes, directory=desk.place.root)
    return GitHub(Line(repository, endpoint, token, desk.settings, sleep))


def addressed(desk: "Desk") -> tuple[Repository, Endpoint]:
    """Return which repository this worktree is about, and on which GitHub."""
    remote = desk.settings.git.remote
    repository = repository_of(desk.git.remote_url(remote), remote=remote)
    is_theirs = desk.origins.get("github.url") is Origin.REPOSITORY
    named_by = NamedBy.REPOSITORY if is_theirs else NamedBy.USER
    return repository, endpoint_of(repository, desk.settings.github.url, named_by=named_by)
