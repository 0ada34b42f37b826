"""Pull requests: branches, what they change, and what stands between them and their merge."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_sync.emulator.graphql.fields.checks import rollup_of
from agent_sync.emulator.graphql.fields.conversations import CONVERSATION
from agent_sync.emulator.graphql.git_objects import GitCommit, commit_of, derived_id, ref_of
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.operations.keywords import closing_issues
from agent_sync.emulator.operations.merges.mergeability import is_mergeable, merge_state
from agent_sync.emulator.world.bare import GitFailed
from agent_sync.emulator.world.people import Role
from agent_sync.emulator.world.pulls import PullRequest

PATCHES = {"A": "ADDED", "C": "COPIED", "D": "DELETED", "R": "RENAMED"}


@dataclass(frozen=True)
class ChangedFile:
    """One file of the change."""

    path: str
    additions: int
    deletions: int
    change_type: str
    viewer_viewed_state: str = "UNVIEWED"


@dataclass(frozen=True)
class PullCommit:
    """One commit of a pull request."""

    pull_request: PullRequest
    commit: GitCommit

    @property
    def id(self) -> str:
        """Return the node id."""
        return derived_id("PURC", self.commit.repository, f"{self.pull_request.number}:{self.commit.oid}")

    @property
    def resource_path(self) -> str:
        """Return the path of the commit's page inside the pull request."""
        return f"{path(self.pull_request)}/commits/{self.commit.oid}"


def path(pull: PullRequest, _request: Request | None = None) -> str:
    """Return the path of a pull request's page."""
    return f"/{pull.repository.full_name}/pull/{pull.number}"


def state(pull: PullRequest, _request: Request) -> str:
    """Return GraphQL's word for the state, in which merged and closed differ."""
    return "MERGED" if pull.merged else pull.state.upper()


def mergeable(pull: PullRequest, _request: Request) -> str:
    """Say whether head and base merge without conflict."""
    return {True: "MERGEABLE", False: "CONFLICTING", None: "UNKNOWN"}[is_mergeable(pull)]


def fork_point(pull: PullRequest) -> str:
    """Return where head and base parted; histories that never met are compared as they are."""
    try:
        return pull.repository.git.run("merge-base", pull.base_sha, pull.head_sha)
    except GitFailed:
        return pull.base_sha


def commits(pull: PullRequest, _request: Request) -> Sequence[PullCommit]:
    """Return the commits of a pull request, oldest first."""
    found = pull.repository.git.commits_between(fork_point(pull), pull.head_sha)
    return [PullCommit(pull, GitCommit(pull.repository, sha)) for sha in found or [pull.head_sha]]


def files(pull: PullRequest, request: Request) -> Sequence[ChangedFile]:
    """Return the files a pull request changes, asking git once per request."""
    key = ("files", pull.id)
    if key not in request.memory:
        request.memory[key] = _files(pull)
    found: Sequence[ChangedFile] = request.memory[key]
    return found


def _files(pull: PullRequest) -> Sequence[ChangedFile]:
    git, between = pull.repository.git, f"{fork_point(pull)}..{pull.head_sha}"
    kinds = {name: kind for kind, name in _rows(git.run("diff", "--name-status", "--no-renames", between))}
    counts = _rows(git.run("diff", "--numstat", "--no-renames", between))
    return [
        ChangedFile(name, _count(added), _count(removed), PATCHES.get(kinds.get(name, "M"), "MODIFIED"))
        for added, removed, name in counts
    ]


def _rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines() if line]


def _count(text: str) -> int:
    return 0 if text == "-" else int(text)  # git counts no lines in binary files


def auto_merge(pull: PullRequest, _request: Request) -> dict[str, Any] | None:
    """Return the standing order to merge, if there is one."""
    order = pull.auto_merge
    if order is None:
        return None
    return {
        "authorEmail": None, "commitBody": None, "commitHeadline": None, "enabledAt": order.enabled_at,
        "enabledBy": order.by, "mergeMethod": order.method.upper(), "pullRequest": pull,
    }  # fmt: skip


def _may_write(pull: PullRequest, request: Request) -> bool:
    return request.reaches(pull.repository, Role.WRITE)


PULL: Table = {
    "additions": lambda pull, request: sum(entry.additions for entry in files(pull, request)),
    "autoMergeRequest": auto_merge,
    "baseRef": lambda pull, _: ref_of(pull.repository, pull.base),
    "baseRefName": lambda pull, _: pull.base,
    "baseRefOid": lambda pull, _: pull.base_sha,
    "baseRepository": lambda pull, _: pull.repository,
    "canBeRebased": lambda pull, _: bool(is_mergeable(pull)),
    "changedFiles": lambda pull, request: len(files(pull, request)),
    "checksResourcePath": lambda pull, _: f"{path(pull)}/checks",
    "checksUrl": lambda pull, request: request.url(f"{path(pull)}/checks"),
    "closingIssuesReferences": lambda pull, _: closing_issues(pull),
    "commits": commits,
    "deletions": lambda pull, request: sum(entry.deletions for entry in files(pull, request)),
    "files": files,
    "headRef": lambda pull, _: ref_of(pull.head_home, pull.head),
    "headRefName": lambda pull, _: pull.head,
    "headRefOid": lambda pull, _: pull.head_sha,
    "headRepository": lambda pull, _: pull.head_home,
    "headRepositoryOwner": lambda pull, _: pull.head_home.owner,
    "isCrossRepository": lambda pull, _: pull.head_repository is not None,
    "isDraft": lambda pull, _: pull.draft,
    "mergeCommit": lambda pull, _: commit_of(pull.repository, pull.merge_commit),
    "mergeStateStatus": lambda pull, _: merge_state(pull).value,
    "mergeable": mergeable,
    "permalink": lambda pull, request: request.url(path(pull)),
    "potentialMergeCommit": constant(None),
    "resourcePath": path,
    "state": state,
    "statusCheckRollup": lambda pull, _: rollup_of(pull.repository, pull.head_sha),
    "totalCommentsCount": lambda pull, _: len(pull.comments) + sum(len(thread.comments) for thread in pull.threads),
    "url": lambda pull, request: request.url(path(pull)),
    "viewerCanDisableAutoMerge": lambda pull, request: pull.auto_merge is not None and _may_write(pull, request),
    "viewerCanEnableAutoMerge": lambda pull, request: pull.repository.rules.auto_merge and _may_write(pull, request),
    "viewerCanMergeAsAdmin": lambda pull, request: request.reaches(pull.repository, Role.ADMIN),
    "viewerCanUpdateBranch": _may_write,
}

RESOLVERS: dict[str, Table] = {
    "PullRequest": CONVERSATION | PULL,
    "PullRequestCommit": {"url": lambda entry, request: request.url(entry.resource_path)},
}
