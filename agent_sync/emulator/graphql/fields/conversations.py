"""What issues and pull requests, and the comments under them, have in common."""

from collections.abc import Sequence
from typing import Any

from agent_sync.emulator.graphql.fields.people import matching
from agent_sync.emulator.graphql.prose import html_paragraph
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.operations.people import is_assignable
from agent_sync.emulator.operations.rights.access import require_projects
from agent_sync.emulator.world.boards import Item, Project
from agent_sync.emulator.world.conversations import Comment, Conversation, Label
from agent_sync.emulator.world.people import Role, User
from agent_sync.emulator.world.refusal import not_found
from agent_sync.emulator.world.repositories import Repository

REACTIONS = ("THUMBS_UP", "THUMBS_DOWN", "LAUGH", "HOORAY", "CONFUSED", "HEART", "ROCKET", "EYES")


def association(author: User, repository: Repository) -> str:
    """Return how an author is related to a repository."""
    return repository.association_of(author)


def assignable_users(repository: Repository, request: Request, query: str | None = None) -> Sequence[User]:
    """Return who can be assigned, by part of the login or name."""
    word = (query or "").lower()
    return [
        user
        for user in request.world.users.values()
        if is_assignable(repository, user)
        and not user.is_bot
        and (word in user.login.lower() or word in user.name.lower())
    ]


def participants(conversation: Conversation, _request: Request) -> Sequence[User]:
    """Return everyone who has written or been assigned here, each once."""
    people = [
        conversation.author,
        *(comment.author for comment in conversation.comments),
        *conversation.assignees,
    ]
    return list(dict.fromkeys(people))


def project_items(
    conversation: Conversation, request: Request, *, include_archived: bool | None = True
) -> Sequence[Item]:
    """Return the cards on boards."""
    require_projects(request.viewer)
    return [item for item in conversation.items if include_archived or not item.archived]


def projects(conversation: Conversation, _request: Request, *, query: str | None = None) -> Sequence[Project]:
    """Return the boards the conversation is on."""
    return matching([item.project for item in conversation.items], query)


def project(conversation: Conversation, _request: Request, *, number: int) -> Project:
    """Return one of the boards the conversation is on."""
    for item in conversation.items:
        if item.project.number == number:
            return item.project
    raise not_found(f"Could not resolve to a ProjectV2 with the number {number}.")


def may_triage(conversation: Conversation, request: Request) -> bool:
    """Say whether the viewer may close, label and assign here."""
    role = Role.READ if conversation.author is request.viewer.user else Role.TRIAGE
    return request.reaches(conversation.repository, role)


def may_edit(comment: Comment, request: Request) -> bool:
    """Say whether the viewer may change a comment."""
    role = Role.READ if comment.author is request.viewer.user else Role.WRITE
    return request.reaches(comment.conversation.repository, role)


def no_reactions(*_: Any) -> list[dict[str, Any]]:
    """Return GitHub's eight reactions, none of them used."""
    return [{"content": content, "users": []} for content in REACTIONS]


def label_repository(label: Label, request: Request) -> Repository:
    """Return the repository a label belongs to."""
    return next(entry for entry in request.world.repositories.values() if label in entry.labels.values())


def label_path(label: Label, request: Request) -> str:
    """Return the path of a label's page."""
    return f"/{label_repository(label, request).full_name}/labels/{label.name}"


TEXT: Table = {
    "body": lambda entry, _: entry.body or "",
    "bodyText": lambda entry, _: entry.body or "",
    "bodyHTML": lambda entry, _: html_paragraph(entry.body),
    "createdViaEmail": constant(False),
    "editor": constant(None),
    "includesCreatedEdit": constant(False),
    "isMinimized": constant(False),
    "lastEditedAt": constant(None),
    "minimizedReason": constant(None),
    "publishedAt": lambda entry, _: entry.created_at,
    "reactionGroups": no_reactions,
    "viewerDidAuthor": lambda entry, request: entry.author is request.viewer.user,
}

CONVERSATION: Table = TEXT | {
    "assignedActors": lambda entry, _: entry.assignees,
    "assignees": lambda entry, _: [user for user in entry.assignees if not user.is_bot],
    "authorAssociation": lambda entry, _: association(entry.author, entry.repository),
    "closed": lambda entry, _: not entry.is_open,
    "milestone": constant(None),
    "participants": participants,
    "projectCards": constant([]),
    "projectItems": project_items,
    "projectV2": project,
    "projectsV2": projects,
    "suggestedActors": lambda entry, request, query=None: assignable_users(entry.repository, request, query),
    "titleHTML": lambda entry, _: entry.title,
    "viewerCanAssign": may_triage,
    "viewerCanClose": may_triage,
    "viewerCanDelete": lambda entry, request: request.reaches(entry.repository, Role.ADMIN),
    "viewerCanLabel": may_triage,
    "viewerCanReopen": may_triage,
    "viewerCanUpdate": may_triage,
}


def comment_path(comment: Comment, _request: Request) -> str:
    """Return the path of a comment's place on the page."""
    about = comment.conversation
    kind = "pull" if hasattr(about, "head") else "issues"
    return f"/{about.repository.full_name}/{kind}/{about.number}#issuecomment-{comment.identity.number}"


RESOLVERS: dict[str, Table] = {
    "IssueComment": TEXT
    | {
        "authorAssociation": lambda comment, _: association(comment.author, comment.conversation.repository),
        "issue": lambda comment, _: comment.conversation,
        "pullRequest": lambda comment, _: comment.conversation if hasattr(comment.conversation, "head") else None,
        "repository": lambda comment, _: comment.conversation.repository,
        "resourcePath": comment_path,
        "url": lambda comment, request: request.url(comment_path(comment, request)),
        "viewerCanDelete": may_edit,
        "viewerCanUpdate": may_edit,
    },
    "Label": {
        "createdAt": lambda label, request: label_repository(label, request).created_at,
        "updatedAt": lambda label, request: label_repository(label, request).created_at,
        "repository": label_repository,
        "resourcePath": label_path,
        "url": lambda label, request: request.url(label_path(label, request)),
    },
}
