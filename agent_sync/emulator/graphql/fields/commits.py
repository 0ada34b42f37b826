"""Refs and commits."""

from collections.abc import Sequence
from typing import Any

from agent_sync.emulator.graphql.fields.checks import rollup_of, statuses_of, suites
from agent_sync.emulator.graphql.fields.selecting import chosen_pulls
from agent_sync.emulator.graphql.git_objects import GitCommit, GitRef, derived_id, ref_of
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.world.people import Role
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.rules import MergeRules

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


def tree_file(commit: GitCommit, _request: Request, *, path: str) -> dict[str, Any] | None:
    """Return the file or folder at a path of a commit's tree, if there is one."""
    found = commit.repository.git.tree_entry(commit.oid, path)
    if found is None:
        return None
    return {"name": path.rpartition("/")[2], "path": path, "oid": found.sha, "type": found.kind}


def update_rule(ref: GitRef, request: Request) -> dict[str, Any] | None:
    """Return the rules of a branch as everybody may see them."""
    rule = _rule(ref)
    shown = ("requiredApprovingReviewCount", "requiredStatusCheckContexts", "requiresConversationResolution")
    own = {"pattern": ref.name, "allowsDeletions": False, "allowsForcePushes": False}
    can_push = request.reaches(ref.repository, Role.WRITE)
    return own | {name: rule[name] for name in shown} | {"viewerCanPush": can_push} if rule else None


RESOLVERS: dict[str, Table] = {
    "Commit": {
        "associatedPullRequests": pulls_with,
        "author": author,
        "checkSuites": suites,
        "authoredDate": lambda commit, request: commit.read(request).author.when,
        "authors": lambda commit, request: [author(commit, request)],
        "commitResourcePath": lambda commit, _: commit.path,
        "commitUrl": lambda commit, request: request.url(commit.path),
        "committedDate": lambda commit, request: commit.read(request).committer.when,
        "file": tree_file,
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
        "refUpdateRule": update_rule,
    },
}


def _rule(ref: GitRef) -> dict[str, Any] | None:
    rules, checks = ref.repository.rules, sorted(ref.repository.required_checks)
    if ref.name != ref.repository.default_branch or (not checks and rules == MergeRules()):
        return None
    return {
        "id": f"BPR_{ref.repository.id}", "requiresStrictStatusChecks": rules.up_to_date,
        "requiresStatusChecks": bool(checks), "requiredStatusCheckContexts": checks,
        "requiresApprovingReviews": rules.required_reviews > 0,
        "requiredApprovingReviewCount": rules.required_reviews or None,
        "requiresConversationResolution": rules.conversation_resolution,
    }  # fmt: skip
