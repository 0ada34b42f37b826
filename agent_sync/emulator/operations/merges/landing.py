"""What follows when a change lands: the pull request is merged, and issues it names are closed."""

from collections.abc import Iterable

from agent_sync.emulator.operations import automation
from agent_sync.emulator.operations.changes import mark_closed, record
from agent_sync.emulator.operations.keywords import closed_by_text, closing_issues
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World


def mark_merged(world: World, pull: PullRequest, *, by: User, commit: str) -> None:
    """Record that a pull request has landed as a commit, and close what it closes."""
    pull.merged_at = world.clock.now()
    pull.merged_by = by
    pull.merge_commit = commit
    pull.auto_merge = None
    record(world, pull, "merged", by=by, commit=commit)
    mark_closed(world, pull, by=by)
    automation.after_closing(world, pull, by=by)
    _close_all(world, closing_issues(pull), by=by)


def close_by_commits(world: World, repository: Repository, commits: Iterable[str], *, by: User) -> None:
    """Close the issues that commits new on the default branch say they close."""
    for sha in commits:
        _close_all(world, closed_by_text(repository, repository.git.commit(sha).message), by=by)


def _close_all(world: World, issues: Iterable[Issue], *, by: User) -> None:
    for issue in issues:
        if issue.is_open:
            mark_closed(world, issue, by=by)
            automation.after_closing(world, issue, by=by)
