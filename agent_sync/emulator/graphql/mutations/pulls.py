"""Mutations of pull requests."""

from agent_sync.emulator.graphql.mutations.found import Payload, found, refuse_classic_projects
from agent_sync.emulator.graphql.mutations.people import label_names, logins
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.operations import people, pulls
from agent_sync.emulator.operations.merges import merging
from agent_sync.emulator.world.pulls import MergeMethod, PullRequest
from agent_sync.emulator.world.repositories import Repository


def create(
    request: Request,
    *,
    repository_id: str,
    base_ref_name: str,
    head_ref_name: str,
    title: str,
    body: str | None = None,
    draft: bool | None = False,
    maintainer_can_modify: bool | None = True,
    head_repository_id: str | None = None,
) -> Payload:
    """Open a pull request."""
    pull = pulls.create_pull(
        request.world, request.viewer, found(request, repository_id, Repository), title=title, body=body,
        head=head_ref_name.removeprefix("refs/heads/"), base=base_ref_name.removeprefix("refs/heads/"),
        draft=bool(draft), maintainer_can_modify=bool(maintainer_can_modify),
        head_repository=found(request, head_repository_id, Repository) if head_repository_id else None,
    )  # fmt: skip
    return {"pullRequest": pull}


def update(
    request: Request,
    *,
    pull_request_id: str,
    title: str | None = None,
    body: str | None = None,
    state: str | None = None,
    base_ref_name: str | None = None,
    maintainer_can_modify: bool | None = None,
    assignee_ids: list[str] | None = None,
    label_ids: list[str] | None = None,
    project_ids: list[str] | None = None,
) -> Payload:
    """Change whatever is given of a pull request."""
    refuse_classic_projects(project_ids)
    world, viewer, pull = request.world, request.viewer, found(request, pull_request_id, PullRequest)
    pulls.edit_pull(world, viewer, pull, title=title, body=body)
    if base_ref_name is not None:
        pulls.retarget(world, viewer, pull, base_ref_name)
    if maintainer_can_modify is not None:
        pull.maintainer_can_modify = maintainer_can_modify
    if assignee_ids is not None:
        people.replace_assignees(world, viewer, pull, logins(request, assignee_ids))
    if label_ids is not None:
        people.remove_labels(world, viewer, pull, [label.name for label in pull.labels])
        people.set_labels(world, viewer, pull, label_names(request, label_ids))
    if state is not None:
        change = pulls.close_pull if state == "CLOSED" else pulls.reopen_pull
        change(world, viewer, pull)
    return {"pullRequest": pull, "actor": viewer.user}


def close(request: Request, *, pull_request_id: str) -> Payload:
    """Close a pull request without merging it."""
    pull = found(request, pull_request_id, PullRequest)
    pulls.close_pull(request.world, request.viewer, pull)
    return {"pullRequest": pull}


def reopen(request: Request, *, pull_request_id: str) -> Payload:
    """Open a closed pull request again."""
    pull = found(request, pull_request_id, PullRequest)
    pulls.reopen_pull(request.world, request.viewer, pull)
    return {"pullRequest": pull}


def mark_ready(request: Request, *, pull_request_id: str) -> Payload:
    """Mark a draft as ready for review."""
    pull = found(request, pull_request_id, PullRequest)
    pulls.set_draft(request.world, request.viewer, pull, draft=False)
    return {"pullRequest": pull}


def to_draft(request: Request, *, pull_request_id: str) -> Payload:
    """Turn a pull request into a draft."""
    pull = found(request, pull_request_id, PullRequest)
    pulls.set_draft(request.world, request.viewer, pull, draft=True)
    return {"pullRequest": pull}


def merge(
    request: Request,
    *,
    pull_request_id: str,
    merge_method: str | None = "MERGE",
    expected_head_oid: str | None = None,
    commit_headline: str | None = None,
    commit_body: str | None = None,
) -> Payload:
    """Land a pull request."""
    pull = found(request, pull_request_id, PullRequest)
    merging.merge_pull(
        request.world, request.viewer, pull, method=MergeMethod((merge_method or "MERGE").lower()),
        expected_head=expected_head_oid, title=commit_headline, message=commit_body,
    )  # fmt: skip
    return {"pullRequest": pull, "actor": request.viewer.user}


MUTATIONS: Table = {
    "closePullRequest": close,
    "convertPullRequestToDraft": to_draft,
    "createPullRequest": create,
    "markPullRequestReadyForReview": mark_ready,
    "mergePullRequest": merge,
    "reopenPullRequest": reopen,
    "updatePullRequest": update,
}
