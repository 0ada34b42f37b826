"""Repositories in REST's shapes."""

from typing import Any

from agent_sync.emulator.exchange import Links
from agent_sync.emulator.rest.shapes.people import permissions, simple_user
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.repositories import Repository

SUB_PATHS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def api_url(links: Links, repository: Repository) -> str:
    """Return the URL of a repository in the interface."""
    return f"{links.api}/repos/{repository.full_name}"


def web_url(links: Links, repository: Repository) -> str:
    """Return the URL of a repository for people, which git understands too."""
    return f"{links.web}/{repository.full_name}"


def minimal_repository(links: Links, repository: Repository) -> dict[str, Any]:
    """Return a repository as other things mention it."""
    url = api_url(links, repository)
    return {
        "id": repository.identity.number,
        "node_id": repository.id,
        "name": repository.name,
        "full_name": repository.full_name,
        "private": repository.private,
        "owner": simple_user(links, repository.owner),
        "html_url": web_url(links, repository),
        "description": repository.description,
        "fork": repository.parent is not None,
        "url": url,
        **{name: url + path for name, path in SUB_PATHS.items()},
    }


def repository_shape(links: Links, repository: Repository) -> dict[str, Any]:
    """Return a repository as pull requests show it."""
    web, open_count = web_url(links, repository), sum(e.is_open for e in repository.conversations.values())
    created = timestamp(repository.created_at)
    return minimal_repository(links, repository) | {
        "clone_url": f"{web}.git",
        "git_url": f"{web}.git".replace("http://", "git://", 1),
        "ssh_url": f"git@{links.web.partition('://')[2]}:{repository.full_name}.git",
        "svn_url": web,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "default_branch": repository.default_branch,
        "forks": 0,
        "forks_count": 0,
        "stargazers_count": 0,
        "watchers": 0,
        "watchers_count": 0,
        "size": 1,
        "open_issues": open_count,
        "open_issues_count": open_count,
        "is_template": False,
        "topics": [],
        "has_issues": repository.has_issues,
        "has_projects": True,
        "has_wiki": False,
        "has_pages": False,
        "has_downloads": True,
        "has_discussions": False,
        "archived": repository.archived,
        "disabled": False,
        "visibility": "private" if repository.private else "public",
        "allow_forking": True,
        "web_commit_signoff_required": False,
        "created_at": created,
        "updated_at": created,
        "pushed_at": created,
    }


def full_repository(links: Links, repository: Repository, viewer: Viewer) -> dict[str, Any]:
    """Return a repository as asking for it by name shows it."""
    parent = repository.parent
    origin = {"parent": repository_shape(links, parent), "source": repository_shape(links, parent)} if parent else {}
    return (
        repository_shape(links, repository)
        | origin
        | {
            "permissions": permissions(repository.role_of(viewer.user)),
            "allow_merge_commit": True,
            "allow_squash_merge": True,
            "allow_rebase_merge": True,
            "allow_auto_merge": repository.rules.auto_merge,
            "allow_update_branch": False,
            "delete_branch_on_merge": False,
            "network_count": 0,
            "subscribers_count": 0,
        }
    )
