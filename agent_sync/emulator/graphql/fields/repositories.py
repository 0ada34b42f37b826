"""Repositories."""

from collections.abc import Sequence
from typing import Any

from agent_sync.emulator.graphql.fields.conversations import assignable_users
from agent_sync.emulator.graphql.fields.people import application, project, projects
from agent_sync.emulator.graphql.fields.selecting import chosen_issues, chosen_pulls
from agent_sync.emulator.graphql.git_objects import GitCommit, GitRef, commit_of, ref_of
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.operations.issues import find_conversation, find_issue
from agent_sync.emulator.operations.people import is_assignable
from agent_sync.emulator.operations.pulls import find_pull
from agent_sync.emulator.world.conversations import Label
from agent_sync.emulator.world.people import Role, User
from agent_sync.emulator.world.repositories import Repository

TEMPLATES = (
    ".github/pull_request_template.md", ".github/PULL_REQUEST_TEMPLATE.md", "PULL_REQUEST_TEMPLATE.md",
    "pull_request_template.md", "docs/pull_request_template.md",
)  # fmt: skip


def refs(
    repository: Repository,
    _request: Request,
    *,
    ref_prefix: str,
    query: str | None = None,
    direction: str | None = None,
) -> Sequence[GitRef]:
    """Return the refs under a prefix, by name."""
    if not ref_prefix.startswith("refs/"):
        return []
    found = repository.git.refs(ref_prefix)
    names = sorted((name for name in found if (query or "") in name), reverse=direction == "DESC")
    return [GitRef(repository, name, found[name]) for name in names]


def shown_ref(repository: Repository, _request: Request, *, qualified_name: str) -> GitRef | None:
    """Return a branch or tag; other refs exist, and are not shown here."""
    found = ref_of(repository, qualified_name)
    return found if found and found.full_name.startswith(("refs/heads/", "refs/tags/")) else None


def git_object(
    repository: Repository, _request: Request, *, oid: str | None = None, expression: str | None = None
) -> GitCommit | None:
    """Return the commit that a SHA or an expression means."""
    return commit_of(repository, repository.git.resolve(oid or expression or ""))


def forks(repository: Repository, request: Request) -> Sequence[Repository]:
    """Return the copies of a repository in other accounts."""
    return [entry for entry in request.world.repositories.values() if entry.parent is repository]


def templates(repository: Repository, _request: Request) -> list[dict[str, Any]]:
    """Return the texts a new pull request starts from."""
    git, head = repository.git, repository.git.ref(f"refs/heads/{repository.default_branch}")
    entries = [git.tree_entry(head, path) for path in TEMPLATES] if head else []
    return [
        {"body": git.blob(entry.sha).decode("utf-8", "replace"), "filename": entry.path, "repository": repository}
        for entry in entries
        if entry and entry.kind == "blob"
    ]


def labels(repository: Repository, _request: Request, *, query: str | None = None) -> Sequence[Label]:
    """Return the labels, by part of the name."""
    return [label for label in repository.labels.values() if (query or "").lower() in label.name.lower()]


def suggested_actors(
    repository: Repository,
    request: Request,
    *,
    query: str | None = None,
    login_names: str | None = None,
    **_: Any,
) -> Sequence[User]:
    """Return who could be assigned: people, and the bots that have a role here."""
    wanted = (login_names or "").lower().replace(",", " ").split()
    bots = [user for user in request.world.users.values() if user.is_bot and is_assignable(repository, user)]
    found = [*assignable_users(repository, request, query), *bots]
    return [user for user in found if not wanted or application(user).lower() in wanted]


def permission(repository: Repository, request: Request) -> str:
    """Return the viewer's role."""
    return repository.role_of(request.viewer.user).upper()


def updated_at(repository: Repository, _request: Request) -> Any:
    """Return when anything in the repository changed last."""
    return max((entry.updated_at for entry in repository.conversations.values()), default=repository.created_at)


RESOLVERS: dict[str, Table] = {
    "Repository": {
        "assignableUsers": lambda repository, request, query=None: assignable_users(repository, request, query),
        "autoMergeAllowed": lambda repository, _: repository.rules.auto_merge,
        "defaultBranchRef": lambda repository, _: ref_of(repository, repository.default_branch),
        "deleteBranchOnMerge": constant(False),
        "hasIssuesEnabled": lambda repository, _: repository.has_issues,
        "hasProjectsEnabled": constant(True),
        "hasWikiEnabled": constant(False),
        "isArchived": lambda repository, _: repository.archived,
        "forkCount": lambda repository, request: len(forks(repository, request)),
        "forks": forks,
        "homepageUrl": constant(None),
        "isDisabled": constant(False),
        "isEmpty": lambda repository, _: not repository.git.refs(),
        "isFork": lambda repository, _: repository.parent is not None,
        "isLocked": constant(False),
        "isTemplate": constant(False),
        "isInOrganization": lambda repository, _: repository.owner.is_organization,
        "isPrivate": lambda repository, _: repository.private,
        "issue": lambda repository, _, number: find_issue(repository, number),
        "issueOrPullRequest": lambda repository, _, number: find_conversation(repository, number),
        "issues": lambda repository, _, **wanted: chosen_issues(repository.issues, **wanted),
        "label": lambda repository, _, name: repository.labels.get(name.lower()),
        "labels": labels,
        "mergeCommitAllowed": constant(True),
        "nameWithOwner": lambda repository, _: repository.full_name,
        "object": git_object,
        "projectV2": lambda repository, request, number: project(repository.owner, request, number=number),
        "projects": constant([]),  # classic boards: gone, but older clients still ask
        "projectsV2": lambda repository, request, query=None: projects(repository.owner, request, query=query),
        "pullRequest": lambda repository, _, number: find_pull(repository, number),
        "pullRequests": lambda repository, _, **wanted: chosen_pulls(repository.pulls, **wanted),
        "pullRequestTemplates": templates,
        "pushedAt": updated_at,
        "rebaseMergeAllowed": constant(True),
        "ref": shown_ref,
        "refs": refs,
        "resourcePath": lambda repository, _: f"/{repository.full_name}",
        "squashMergeAllowed": constant(True),
        "sshUrl": lambda repository, _: f"git@github.com:{repository.full_name}.git",
        "suggestedActors": suggested_actors,
        "updatedAt": updated_at,
        "url": lambda repository, request: request.url(f"/{repository.full_name}"),
        "viewerCanAdminister": lambda repository, request: request.reaches(repository, Role.ADMIN),
        "viewerDefaultMergeMethod": constant("MERGE"),
        "viewerPermission": permission,
        "visibility": lambda repository, _: "PRIVATE" if repository.private else "PUBLIC",
    },
}
