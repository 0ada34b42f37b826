"""The merge queue, and the history of a pull request as typed events."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agent_sync.emulator.graphql.connections import Page
from agent_sync.emulator.graphql.fields.pulls import path
from agent_sync.emulator.graphql.git_objects import commit_of, derived_id, ref_of
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.operations.merges.queueing import entry_of, position
from agent_sync.emulator.world.conversations import Event
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.pulls import PullRequest, QueueEntry
from agent_sync.emulator.world.repositories import Repository

EVENTS = {
    "added_to_merge_queue": "AddedToMergeQueueEvent",
    "base_ref_changed": "BaseRefChangedEvent",
    "closed": "ClosedEvent",
    "convert_to_draft": "ConvertToDraftEvent",
    "head_ref_deleted": "HeadRefDeletedEvent",
    "head_ref_force_pushed": "HeadRefForcePushedEvent",
    "merged": "MergedEvent",
    "ready_for_review": "ReadyForReviewEvent",
    "removed_from_merge_queue": "RemovedFromMergeQueueEvent",
    "reopened": "ReopenedEvent",
}
MINUTE = 60


@dataclass(frozen=True)
class TimelineEvent:
    """One entry of a pull request's history."""

    pull_request: PullRequest
    event: Event

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.event.identity.node

    @property
    def type_name(self) -> str:
        """Return the GraphQL type of the entry."""
        return EVENTS[self.event.kind]

    @property
    def actor(self) -> User:
        """Return who did it."""
        return self.event.actor

    @property
    def created_at(self) -> datetime:
        """Return when it was done."""
        return self.event.created_at


@dataclass(frozen=True)
class Queue:
    """The merge queue of a repository's default branch."""

    repository: Repository

    @property
    def id(self) -> str:
        """Return the node id."""
        return derived_id("MQ", self.repository, self.repository.default_branch)

    @property
    def resource_path(self) -> str:
        """Return the path of the queue's page."""
        return f"/{self.repository.full_name}/queue/{self.repository.default_branch}"


def timeline(
    pull: PullRequest, _request: Request, *, item_types: list[str] | None = None, since: str | None = None
) -> Sequence[TimelineEvent]:
    """Return the history of a pull request, of some kinds or since a moment."""
    found = [TimelineEvent(pull, event) for event in pull.events if event.kind in EVENTS]
    moment = datetime.fromisoformat(since).astimezone(UTC) if since else None
    return [
        entry
        for entry in found
        if (item_types is None or f"{entry.event.kind}_event".upper() in item_types)
        and (moment is None or entry.created_at >= moment)
    ]


def queue(repository: Repository, _request: Request | None = None, *, branch: str | None = None) -> Queue | None:
    """Return the merge queue, if the rules have one for the branch."""
    is_here = branch in {None, repository.default_branch}
    return Queue(repository) if repository.rules.merge_queue and is_here else None


def enqueuer(entry: TimelineEvent, _request: Request) -> User:
    """Return who had put the pull request into the queue."""
    events = [event for event in entry.pull_request.events if event.kind == "added_to_merge_queue"]
    earlier = [event.actor for event in events if event.created_at <= entry.created_at]
    return earlier[-1] if earlier else entry.actor


def event_path(entry: TimelineEvent, _request: Request | None = None) -> str:
    """Return the path of an entry's place on the page."""
    return f"{path(entry.pull_request)}#event-{entry.event.identity.number}"


def commit(entry: TimelineEvent, _request: Request) -> Any:
    """Return the commit an entry is about."""
    return commit_of(entry.pull_request.repository, entry.event.commit)


def newest(page: Page, request: Request) -> datetime:
    """Return when the newest entry was made."""
    return max((entry.created_at for entry in page.everything), default=request.world.clock.now())


QUEUE_EVENT: Table = {
    "enqueuer": enqueuer,
    "mergeQueue": lambda entry, _: queue(entry.pull_request.repository),
}
PLACED: Table = {"resourcePath": event_path, "url": lambda entry, request: request.url(event_path(entry))}
CLOSING: Table = {"closable": lambda entry, _: entry.pull_request, "stateReason": constant(None)}

RESOLVERS: dict[str, Table] = {
    "PullRequest": {
        "isInMergeQueue": lambda pull, _: entry_of(pull) is not None,
        "isMergeQueueEnabled": lambda pull, _: pull.repository.rules.merge_queue,
        "mergeQueue": lambda pull, _: queue(pull.repository),
        "mergeQueueEntry": lambda pull, _: entry_of(pull),
        "timelineItems": timeline,
    },
    "Repository": {"mergeQueue": queue},
    "MergeQueue": {
        "entries": lambda found, _: found.repository.queue,
        "nextEntryEstimatedTimeToMerge": constant(MINUTE),
        "url": lambda found, request: request.url(found.resource_path),
    },
    "MergeQueueEntry": {
        "baseCommit": lambda entry, _: commit_of(entry.pull.repository, entry.base_sha),
        "enqueuer": lambda entry, _: entry.by,
        "estimatedTimeToMerge": lambda entry, _: MINUTE * _place(entry),
        "headCommit": lambda entry, _: commit_of(entry.pull.repository, entry.head_sha),
        "mergeQueue": lambda entry, _: queue(entry.pull.repository),
        "position": lambda entry, _: _place(entry),
        "pullRequest": lambda entry, _: entry.pull,
        "solo": constant(False),
        "state": constant("AWAITING_CHECKS"),
    },
    "PullRequestTimelineItemsConnection": {
        "filteredCount": lambda page, _: page.total_count,
        "pageCount": lambda page, _: len(page.nodes),
        "updatedAt": newest,
    },
    "AddedToMergeQueueEvent": QUEUE_EVENT,
    "RemovedFromMergeQueueEvent": QUEUE_EVENT
    | {"beforeCommit": commit, "reason": lambda entry, _: entry.event.subject},
    "BaseRefChangedEvent": {
        "currentRefName": lambda entry, _: entry.event.subject,
        "databaseId": lambda entry, _: entry.event.identity.number,
        "previousRefName": lambda entry, _: entry.event.previous,
    },
    "HeadRefDeletedEvent": {"headRef": constant(None), "headRefName": lambda entry, _: entry.pull_request.head},
    "HeadRefForcePushedEvent": {
        "afterCommit": commit,
        "beforeCommit": lambda entry, _: commit_of(entry.pull_request.repository, entry.event.previous),
        "ref": lambda entry, _: ref_of(entry.pull_request.repository, entry.pull_request.head),
    },
    "MergedEvent": PLACED | {"commit": commit, "mergeRefName": lambda entry, _: entry.pull_request.base},
    "ConvertToDraftEvent": PLACED,
    "ReadyForReviewEvent": PLACED,
    "ClosedEvent": PLACED | CLOSING,
    "ReopenedEvent": CLOSING,
}


def _place(entry: QueueEntry) -> int:
    return position(entry) if entry in entry.pull.repository.queue else 1
