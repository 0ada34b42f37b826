"""Comments under issues and pull requests."""

from agent_sync.emulator.exchange import Answer, json_answer
from agent_sync.emulator.operations import issues
from agent_sync.emulator.rest.call import Call
from agent_sync.emulator.rest.issues import ISSUE, ISSUES, conversation
from agent_sync.emulator.rest.shapes.issues import comment_shape
from agent_sync.emulator.world.conversations import Comment
from agent_sync.emulator.world.refusal import not_found

COMMENT = f"{ISSUES}/comments/{{comment_id}}"


def _comment(call: Call) -> Comment:
    number = call.number("comment_id")
    for entry in call.repository.conversations.values():
        for comment in entry.comments:
            if comment.identity.number == number:
                return comment
    raise not_found()


def list_comments(call: Call) -> Answer:
    """Answer the comments of an issue, oldest first."""
    return call.page(conversation(call).comments, lambda comment: comment_shape(call.links, comment))


def list_all_comments(call: Call) -> Answer:
    """Answer the comments of a repository, oldest first."""
    found = [comment for entry in call.repository.conversations.values() for comment in entry.comments]
    found.sort(key=lambda comment: comment.identity.number)
    return call.page(found, lambda comment: comment_shape(call.links, comment))


def create_comment(call: Call) -> Answer:
    """Comment on an issue."""
    body = call.text("IssueComment", "body")
    comment = issues.add_comment(call.world, call.viewer, conversation(call), body)
    return json_answer(201, comment_shape(call.links, comment))


def get_comment(call: Call) -> Answer:
    """Answer one comment."""
    return json_answer(200, comment_shape(call.links, _comment(call)))


def update_comment(call: Call) -> Answer:
    """Change a comment."""
    comment = _comment(call)
    issues.edit_comment(call.world, call.viewer, comment, call.text("IssueComment", "body"))
    return json_answer(200, comment_shape(call.links, comment))


def delete_comment(call: Call) -> Answer:
    """Remove a comment."""
    issues.delete_comment(call.world, call.viewer, _comment(call))
    return Answer(204)


ROUTES = (
    ("GET", f"{ISSUES}/comments", "issues/list-comments-for-repo", list_all_comments),
    ("GET", f"{ISSUE}/comments", "issues/list-comments", list_comments),
    ("POST", f"{ISSUE}/comments", "issues/create-comment", create_comment),
    ("GET", COMMENT, "issues/get-comment", get_comment),
    ("PATCH", COMMENT, "issues/update-comment", update_comment),
    ("DELETE", COMMENT, "issues/delete-comment", delete_comment),
)
