"""Users in REST's shapes."""

from typing import Any

from agent_sync.emulator.exchange import Links
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.people import Role, User
from agent_sync.emulator.world.repositories import Repository

LINKED = ("followers", "subscriptions", "organizations", "repos", "received_events")


def simple_user(links: Links, user: User) -> dict[str, Any]:
    """Return a user as other things mention it."""
    url = f"{links.api}/users/{user.login}"
    return {
        "login": user.login,
        "id": user.identity.number,
        "node_id": user.id,
        "avatar_url": f"{links.web}/avatars/u/{user.identity.number}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{links.web}/{user.login}",
        "following_url": url + "/following{/other_user}",
        "gists_url": url + "/gists{/gist_id}",
        "starred_url": url + "/starred{/owner}{/repo}",
        "events_url": url + "/events{/privacy}",
        **{f"{name}_url": f"{url}/{name}" for name in LINKED},
        "type": "Organization" if user.is_organization else "Bot" if user.is_bot else "User",
        "user_view_type": "public",
        "site_admin": False,
    }


def optional_user(links: Links, user: User | None) -> dict[str, Any] | None:
    """Return a user, or nothing."""
    return simple_user(links, user) if user else None


def public_user(links: Links, user: User) -> dict[str, Any]:
    """Return a user's public profile."""
    return simple_user(links, user) | {
        "name": user.name,
        "company": None,
        "blog": "",
        "location": None,
        "email": None,
        "hireable": None,
        "bio": None,
        "twitter_username": None,
        "public_repos": 1,
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": timestamp(user.created_at),
        "updated_at": timestamp(user.created_at),
    }


def private_user(links: Links, user: User) -> dict[str, Any]:
    """Return a user's own profile."""
    return public_user(links, user) | {
        "user_view_type": "private",
        "private_gists": 0,
        "total_private_repos": 0,
        "owned_private_repos": 0,
        "disk_usage": 0,
        "collaborators": 0,
        "two_factor_authentication": True,
    }


def association(repository: Repository, user: User) -> str:
    """Return how a user relates to a repository."""
    return repository.association_of(user)


def permissions(role: Role) -> dict[str, bool]:
    """Return a role as the list of what it allows."""
    words = {"pull": Role.READ, "triage": Role.TRIAGE, "push": Role.WRITE, "maintain": Role.MAINTAIN}
    return {name: role.reaches(least) for name, least in words.items()} | {"admin": role is Role.ADMIN}


def collaborator(links: Links, repository: Repository, user: User) -> dict[str, Any]:
    """Return a user with their role in a repository."""
    role = repository.role_of(user)
    return simple_user(links, user) | {"permissions": permissions(role), "role_name": role.value}
