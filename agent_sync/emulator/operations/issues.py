"""Operations on issues: create, edit, close, reopen, comment."""

from agent_sync.emulator.operations import automation
from agent_sync.emulator.operations.changes import mark_closed, mark_open, record
from agent_sync.emulator.operations.people import assign, set_labels
from agent_sync.emulator.operations.rights.access import has_role, require_role, require_writing_token
from agent_sync.emulator.world.conversations import Comment, Conversation, Issue
from agent_sync.emulator.world.people import Role, Viewer
from agent_sync.emulator.world.refusal import Kind, Refused, invalid, not_found
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

CLOSE_REASONS = ("completed", "not_planned", "duplicate")
LONGEST_TITLE = 256
LONGEST_BODY = 65536


def find_conversation(repository: Repository, number: int) -> Conversation:
    """Return the issue or pull request of that number, or refuse."""
    found = repository.conversations.get(number)
    if found is None:
        raise not_found(f"Could not resolve to an issue or pull request with the number of {number}.")
    return found


def find_issue(repository: Repository, number: int) -> Issue:
    """Return the issue of that number, or refuse."""
    found = repository.conversations.get(number)
    if not isinstance(found, Issue):
        raise not_found(f"Could not resolve to an Issue with the number of {number}.")
    return found


def create_issue(
    world: World,
    viewer: Viewer,
    repository: Repository,
    *,
    title: str,
    body: str | None = None,
    labels: tuple[str, ...] = (),
    assignees: tuple[str, ...] = (),
) -> Issue:
    """Open an issue; labels and assignees of someone without push access are dropped silently."""
    require_role(viewer, repository, Role.READ)
    check_text("Issue", title, body)
    now = world.clock.now()
    issue = Issue(
        identity=world.identify("I"), repository=repository, number=repository.next_number(),
        title=title, body=body, author=viewer.user, created_at=now, updated_at=now,
    )  # fmt: skip
    repository.conversations[issue.number] = issue
    world.register(issue.id, issue)
    set_labels(world, viewer, issue, labels)
    assign(world, viewer, issue, assignees)
    return issue


def check_text(resource: str, title: str | None, body: str | None) -> None:
    """Refuse titles and bodies GitHub does not store."""
    if title is not None and not title.strip():
        raise invalid(resource, "title", code="missing_field", message="Title can't be blank")
    if title is not None and len(title) > LONGEST_TITLE:
        raise invalid(resource, "title", code="custom", message="title is too long (maximum is 256 characters)")
    if body is not None and len(body) > LONGEST_BODY:
        raise invalid(resource, "body", code="custom", message="body is too long (maximum is 65536 characters)")


def edit_text(
    world: World,
    viewer: Viewer,
    conversation: Conversation,
    *,
    title: str | None = None,
    body: str | None = None,
) -> None:
    """Change title or body."""
    _require_triage_or_author(viewer, conversation)
    check_text("Issue", title, body)
    if title is not None and title != conversation.title:
        conversation.title = title
        record(world, conversation, "renamed", by=viewer.user, subject=title)
    if body is not None:
        conversation.body = body
    conversation.updated_at = world.clock.now()


def close_issue(world: World, viewer: Viewer, issue: Issue, *, reason: str | None = None) -> None:
    """Close an issue; closing a closed one again only matters when the reason differs."""
    _require_triage_or_author(viewer, issue)
    if reason is not None and reason not in CLOSE_REASONS:
        raise invalid("Issue", "state_reason")
    if issue.is_open or issue.state_reason != (reason or issue.state_reason):
        mark_closed(world, issue, by=viewer.user, reason=reason)
        automation.after_closing(world, issue, by=viewer.user)


def reopen_issue(world: World, viewer: Viewer, issue: Issue) -> None:
    """Open a closed issue again."""
    _require_triage_or_author(viewer, issue)
    if not issue.is_open:
        mark_open(world, issue, by=viewer.user)


def add_comment(world: World, viewer: Viewer, conversation: Conversation, body: str) -> Comment:
    """Comment on an issue or pull request; anyone who can read may."""
    require_role(viewer, conversation.repository, Role.READ)
    if conversation.locked and not has_role(viewer, conversation.repository, Role.WRITE):
        raise Refused(Kind.FORBIDDEN, "Unable to create comment because issue is locked.")
    if not body.strip():
        raise invalid("IssueComment", "body", code="unprocessable", message="Body can't be blank")
    check_text("IssueComment", None, body)
    now = world.clock.now()
    comment = Comment(
        identity=world.identify("IC"), conversation=conversation, author=viewer.user,
        body=body, created_at=now, updated_at=now,
    )  # fmt: skip
    conversation.comments.append(comment)
    conversation.updated_at = now
    return world.register(comment.id, comment)


def edit_comment(world: World, viewer: Viewer, comment: Comment, body: str) -> None:
    """Change a comment; only its author and people who may write can."""
    _require_author_or_writer(viewer, comment)
    if not body.strip():
        raise invalid("IssueComment", "body", code="unprocessable", message="Body can't be blank")
    comment.body = body
    comment.updated_at = world.clock.now()


def delete_comment(world: World, viewer: Viewer, comment: Comment) -> None:
    """Remove a comment for good."""
    _require_author_or_writer(viewer, comment)
    comment.conversation.comments.remove(comment)
    world.nodes.pop(comment.id)


def _require_author_or_writer(viewer: Viewer, comment: Comment) -> None:
    role = Role.READ if comment.author is viewer.user else Role.WRITE
    require_role(viewer, comment.conversation.repository, role)


def _require_triage_or_author(viewer: Viewer, conversation: Conversation) -> None:
    require_writing_token(viewer)
    role = Role.READ if conversation.author is viewer.user else Role.TRIAGE
    require_role(viewer, conversation.repository, role)
