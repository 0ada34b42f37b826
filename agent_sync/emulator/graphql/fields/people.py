"""Users and organizations."""

from collections.abc import Sequence

from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.operations.boards import require_project
from agent_sync.emulator.operations.rights.access import require_visible
from agent_sync.emulator.world.boards import Project
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.refusal import Refused
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import BOT as BOT_SUFFIX


def repositories(owner: User, request: Request) -> Sequence[Repository]:
    """Return what an account owns."""
    return [entry for entry in request.world.repositories.values() if entry.owner is owner]


def repository(owner: User, request: Request, *, name: str) -> Repository | None:
    """Return one repository of an account."""
    try:
        return require_visible(request.world, request.viewer, request.world.repository(owner.login, name))
    except Refused:
        return None


def project(owner: User, request: Request, *, number: int) -> Project:
    """Return one board of an account."""
    return require_project(request.world, request.viewer, owner.login, number)


def projects(owner: User, request: Request, *, query: str | None = None) -> Sequence[Project]:
    """Return the boards of an account, by title or state; permissions do not reach the boards of people."""
    if not request.viewer.has_scopes and not owner.is_organization:
        return []
    return matching([entry for entry in request.world.projects.values() if entry.owner is owner], query)


def matching(found: Sequence[Project], query: str | None) -> Sequence[Project]:
    """Keep the boards that pass a filter of words, `is:open` and `is:closed`."""
    words = (query or "").lower().split()
    states = {word.removeprefix("is:") for word in words if word.startswith("is:")}
    titles = [word for word in words if not word.startswith("is:")]
    return [
        entry
        for entry in found
        if all(word in entry.title.lower() for word in titles)
        and ("open" not in states or not entry.closed)
        and ("closed" not in states or entry.closed)
    ]


def application(bot: User) -> str:
    """Return the name of the application a bot acts for, which GraphQL shows as its login."""
    return bot.login.removesuffix(BOT_SUFFIX)


ACCOUNT: Table = {
    "avatarUrl": lambda user, request, size=None: request.url(f"/avatars/{user.login}"),  # noqa: ARG005 - one size
    "url": lambda user, request: request.url(f"/{user.login}"),
    "resourcePath": lambda user, _: f"/{user.login}",
    "projectV2": project,
    "projectsV2": projects,
    "repository": repository,
    "repositories": repositories,
}

BOT: Table = {
    "avatarUrl": ACCOUNT["avatarUrl"],
    "login": lambda bot, _: application(bot),
    "resourcePath": lambda bot, _: f"/apps/{application(bot)}",
    "updatedAt": lambda bot, _: bot.created_at,
    "url": lambda bot, request: request.url(f"/apps/{application(bot)}"),
}

RESOLVERS: dict[str, Table] = {
    "Bot": BOT,
    "User": ACCOUNT
    | {
        "isViewer": lambda user, request: user is request.viewer.user,
        "email": constant(""),
    },
    "Organization": ACCOUNT | {"email": constant(None), "projects": constant([])},
}
