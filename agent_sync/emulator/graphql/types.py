"""Which GraphQL type a thing of the world is."""

from agent_sync.emulator.graphql.board_values import ItemValue
from agent_sync.emulator.graphql.fields.queues import TimelineEvent
from agent_sync.emulator.graphql.git_objects import GitCommit, GitRef
from agent_sync.emulator.world.boards import DraftIssue, Field, FieldType, Item, Project
from agent_sync.emulator.world.checks import CheckRun, CommitStatus, WorkflowRun
from agent_sync.emulator.world.conversations import Comment, Issue, Label, LinkedBranch
from agent_sync.emulator.world.issue_fields import IssueField, IssueFieldOption, IssueFieldValue, IssueType
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.pulls import PullRequest, QueueEntry, Review, ReviewComment, ReviewThread
from agent_sync.emulator.world.repositories import Repository

NAMES: dict[type, str] = {
    Repository: "Repository",
    Issue: "Issue",
    PullRequest: "PullRequest",
    Comment: "IssueComment",
    Label: "Label",
    LinkedBranch: "LinkedBranch",
    Review: "PullRequestReview",
    ReviewThread: "PullRequestReviewThread",
    ReviewComment: "PullRequestReviewComment",
    CheckRun: "CheckRun",
    CommitStatus: "StatusContext",
    WorkflowRun: "WorkflowRun",
    Project: "ProjectV2",
    Item: "ProjectV2Item",
    DraftIssue: "DraftIssue",
    GitRef: "Ref",
    GitCommit: "Commit",
    IssueField: "IssueFieldSingleSelect",
    IssueFieldOption: "IssueFieldSingleSelectOption",
    IssueFieldValue: "IssueFieldSingleSelectValue",
    IssueType: "IssueType",
    QueueEntry: "MergeQueueEntry",
}

FIELDS = {
    FieldType.SINGLE_SELECT: "ProjectV2SingleSelectField",
    FieldType.ITERATION: "ProjectV2IterationField",
}

VALUES = {
    FieldType.TITLE: "Text",
    FieldType.TEXT: "Text",
    FieldType.NUMBER: "Number",
    FieldType.DATE: "Date",
    FieldType.SINGLE_SELECT: "SingleSelect",
    FieldType.ITERATION: "Iteration",
    FieldType.ASSIGNEES: "User",
    FieldType.LABELS: "Label",
    FieldType.REPOSITORY: "Repository",
    FieldType.LINKED_PULL_REQUESTS: "PullRequest",
    FieldType.REVIEWERS: "Reviewer",
}


def type_name(thing: object) -> str:
    """Return the name of the object type a thing appears as."""
    if isinstance(thing, User):
        return "Organization" if thing.is_organization else "Bot" if thing.is_bot else "User"
    if isinstance(thing, TimelineEvent):
        return thing.type_name
    if isinstance(thing, Field):
        return FIELDS.get(thing.type, "ProjectV2Field")
    if isinstance(thing, ItemValue) and thing.field.issue_field:
        return "ProjectV2ItemIssueFieldValue"
    if isinstance(thing, ItemValue):
        return f"ProjectV2ItemField{VALUES[thing.field.type]}Value"
    return NAMES[type(thing)]


def is_board_part(thing: object) -> bool:
    """Say whether a thing belongs to Projects, which a token may not reach."""
    return isinstance(thing, Project | Field | Item | DraftIssue | ItemValue)
