"""Refs and commits."""

from collections.abc import Sequence
from typing import Any

from agent_sync.emulator.graphql.fields.checks import rollup_of, statuses_of
from agent_sync.emulator.graphql.fields.selecting import chosen_pulls
from agent_sync.emulator.graphql.git_objects import GitCommit, GitRef, derived_id, ref_of
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.world.pulls import PullRequest

# By whether the head has commits of its own, and whether the base has.
RELATIONS = {
    (True, True): "DIVERGED",
    (True, False): "AHEAD",
    (False, True): "BEHIND",
    (False, False): "IDENTICAL",
}


def author(commit: GitCommit, request: Request) -> dict[str, Any]:
    """Return who a commit is by, with the account of that address if there is one."""
    by = commit.read(request).author
    account = next((user for user in request.world.users.values() if user.email == by.email), None)
    return {"name": by.name, "email": by.email, "user": account}


def pulls_with(commit: GitCommit, _request: Request) -> Sequence[PullRequest]:
    """Return the pull requests a commit is the head or the result of."""
    return [pull for pull in commit.repository.pulls if commit.oid in {pull.head_sha, pull.merge_commit}]


def pulls_from(ref: GitRef, _request: Request, **wanted: Any) -> Sequence[PullRequest]:
    """Return the pull requests from a branch."""
    return chosen_pulls([pull for pull in ref.repository.pulls if pull.head == ref.name], **wanted)


def compare(ref: GitRef, _request: Request, *, head_ref: str) -> dict[str, Any] | None:
    """Return how far a branch is ahead of this one and behind it; nothing for a branch that is not there."""
    head = ref_of(ref.repository, head_ref)
    if head is None:
        return None
    git = ref.repository.git
    ahead, behind = len(git.commits_between(ref.sha, head.sha)), len(git.commits_between(head.sha, ref.sha))
    return {
        "id": derived_id("CMP", ref.repository, f"{ref.sha}...{head.sha}"), "aheadBy": ahead,
        "behindBy": behind, "baseTarget": ref.target, "headTarget": head.target,
        "status": RELATIONS[ahead > 0, behind > 0],
    }  # fmt: skip


RESOLVERS: dict[str, Table] = {
    "Commit": {
        "associatedPullRequests": pulls_with,
        "author": author,
        "authoredDate": lambda commit, request: commit.read(request).author.when,
        "authors": lambda commit, request: [author(commit, request)],
        "commitResourcePath": lambda commit, _: commit.path,
        "commitUrl": lambda commit, request: request.url(commit.path),
        "committedDate": lambda commit, request: commit.read(request).committer.when,
        "message": lambda commit, request: commit.read(request).message,
        "messageBody": lambda commit, request: commit.read(request).message.partition("\n")[2].strip(),
        "messageHeadline": lambda commit, request: commit.read(request).message.partition("\n")[0],
        "resourcePath": lambda commit, _: commit.path,
        "status": lambda commit, _: statuses_of(commit.repository, commit.oid),
        "statusCheckRollup": lambda commit, _: rollup_of(commit.repository, commit.oid),
        "url": lambda commit, request: request.url(commit.path),
    },
    "Ref": {
        "associatedPullRequests": pulls_from,
        "branchProtectionRule": lambda ref, _: _rule(ref),
        "compare": compare,
    },
}


def _rule(ref: GitRef) -> dict[str, Any] | None:
    if ref.name != ref.repository.default_branch or not ref.repository.required_checks:
        return None
    return {"id": f"BPR_{ref.repository.id}", "requiresStrictStatusChecks": False}
