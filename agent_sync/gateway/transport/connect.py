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
    from agent_sync.context import Context
    from agent_sync.gateway.transport.persistence import Sleep


def connect(context: "Context", *, sleep: "Sleep | None" = None) -> Gateway:
    """Return GitHub as this worktree reaches it; nothing is sent before the first question."""
    repository, endpoint = addressed(context)
    token = find_token(endpoint, context.environment, context.processes, directory=context.place.root)
    return GitHub(Line(repository, endpoint, token, context.settings, sleep))


def addressed(context: "Context") -> tuple[Repository, Endpoint]:
    """Return which repository this worktree is about, and on which GitHub."""
    remote = context.settings.git.remote
    repository = repository_of(context.git.remote_url(remote), remote=remote)
    is_theirs = context.origins.get("github.url") is Origin.REPOSITORY
    named_by = NamedBy.REPOSITORY if is_theirs else NamedBy.USER
    return repository, endpoint_of(repository, context.settings.github.url, named_by=named_by)
