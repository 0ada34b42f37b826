"""Mutations that move branches and issues as a whole."""

from agent_sync.emulator.graphql.mutations.found import Payload, found
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.operations import branches
from agent_sync.emulator.operations.moving import transfer_issue
from agent_sync.emulator.world.conversations import Issue, LinkedBranch
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository


def link(
    request: Request, *, issue_id: str, oid: str, name: str | None = None, repository_id: str | None = None
) -> Payload:
    """Create a branch for an issue."""
    issue = found(request, issue_id, Issue)
    repository = found(request, repository_id, Repository) if repository_id else issue.repository
    made = branches.link_branch(request.world, request.viewer, issue, repository, name=name, sha=oid)
    return {"issue": issue, "linkedBranch": made}


def unlink(request: Request, *, linked_branch_id: str) -> Payload:
    """Forget that a branch belongs to an issue; the branch stays."""
    made = found(request, linked_branch_id, LinkedBranch)
    holders = (issue for entry in request.world.repositories.values() for issue in entry.issues)
    issue = next(issue for issue in holders if made in issue.linked_branches)
    issue.linked_branches.remove(made)
    return {"issue": issue}


def update(
    request: Request, *, pull_request_id: str, expected_head_oid: str | None = None, update_method: str | None = None
) -> Payload:
    """Bring the head of a pull request up to date with its base, by a merge."""
    pull = found(request, pull_request_id, PullRequest)
    if expected_head_oid not in {None, pull.head_sha} or update_method == "REBASE":
        raise Refused(Kind.UNPROCESSABLE, "The head branch cannot be updated like this")
    branches.update_branch(request.world, request.viewer, pull)
    return {"pullRequest": pull}


def revert(
    request: Request,
    *,
    pull_request_id: str,
    title: str | None = None,
    body: str | None = None,
    draft: bool | None = False,
) -> Payload:
    """Propose to take a merged pull request back."""
    pull = found(request, pull_request_id, PullRequest)
    made = branches.revert_pull(request.world, request.viewer, pull, title=title, body=body)
    made.draft = bool(draft)
    return {"pullRequest": pull, "revertPullRequest": made}


def transfer(
    request: Request, *, issue_id: str, repository_id: str, create_labels_if_missing: bool | None = False
) -> Payload:
    """Move an issue to another repository; labels that are missing there are left behind."""
    del create_labels_if_missing
    issue, target = found(request, issue_id, Issue), found(request, repository_id, Repository)
    return {"issue": transfer_issue(request.world, request.viewer, issue, target)}


MUTATIONS: Table = {
    "createLinkedBranch": link,
    "deleteLinkedBranch": unlink,
    "revertPullRequest": revert,
    "transferIssue": transfer,
    "updatePullRequestBranch": update,
}
