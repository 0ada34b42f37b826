"""Reviews, review comments and requested reviewers."""

from agent_sync.emulator.exchange import Answer, json_answer
from agent_sync.emulator.operations import reviews
from agent_sync.emulator.rest.call import Call
from agent_sync.emulator.rest.pulls import PULL, pull_of
from agent_sync.emulator.rest.shapes.people import simple_user
from agent_sync.emulator.rest.shapes.pulls import review_comment_shape, review_shape, simple_pull
from agent_sync.emulator.world.pulls import Review, ReviewComment, ReviewState
from agent_sync.emulator.world.refusal import invalid, not_found

EVENTS = {
    "APPROVE": ReviewState.APPROVED,
    "REQUEST_CHANGES": ReviewState.CHANGES_REQUESTED,
    "COMMENT": ReviewState.COMMENTED,
}


def _review(call: Call) -> Review:
    number = call.number("review_id")
    for review in pull_of(call).reviews:
        if review.identity.number == number:
            return review
    raise not_found()


def _comments(call: Call) -> list[ReviewComment]:
    found = [comment for thread in pull_of(call).threads for comment in thread.comments]
    return sorted(found, key=lambda comment: comment.identity.number)


def list_reviews(call: Call) -> Answer:
    """Answer the reviews of a pull request, oldest first."""
    return call.page(pull_of(call).reviews, lambda review: review_shape(call.links, review))


def get_review(call: Call) -> Answer:
    """Answer one review."""
    return json_answer(200, review_shape(call.links, _review(call)))


def create_review(call: Call) -> Answer:
    """Review a pull request."""
    event, body = call.body.get("event"), call.optional_text("PullRequestReview", "body") or ""
    if event not in EVENTS:
        raise invalid("PullRequestReview", "event")
    if event != "APPROVE" and not body:
        raise invalid("PullRequestReview", "body", code="missing_field")
    threads = [
        reviews.NewThread(str(entry["path"]), int(entry.get("line") or entry.get("position") or 1), entry["body"])
        for entry in call.body.get("comments") or []
    ]
    review = reviews.submit_review(
        call.world, call.viewer, pull_of(call), state=EVENTS[event], body=body, threads=threads
    )
    return json_answer(200, review_shape(call.links, review))


def review_comments(call: Call) -> Answer:
    """Answer every comment at a line of a pull request."""
    return call.page(_comments(call), lambda comment: review_comment_shape(call.links, comment))


def reply(call: Call) -> Answer:
    """Answer in the thread of a comment."""
    number = call.number("comment_id")
    for comment in _comments(call):
        if comment.identity.number == number:
            body = call.text("PullRequestReviewComment", "body")
            made = reviews.reply_to_thread(call.world, call.viewer, comment.thread, body)
            return json_answer(201, review_comment_shape(call.links, made))
    raise not_found()


def requested_reviewers(call: Call) -> Answer:
    """Answer who has been asked for a review."""
    users = [simple_user(call.links, user) for user in pull_of(call).requested_reviewers]
    return json_answer(200, {"users": users, "teams": []})


def request_reviewers(call: Call) -> Answer:
    """Ask people for a review."""
    users = [call.world.user(login) for login in call.texts("reviewers")]
    reviews.request_reviewers(call.world, call.viewer, pull_of(call), users)
    return json_answer(201, simple_pull(call.links, pull_of(call)))


ROUTES = (
    ("GET", f"{PULL}/reviews", "pulls/list-reviews", list_reviews),
    ("POST", f"{PULL}/reviews", "pulls/create-review", create_review),
    ("GET", f"{PULL}/reviews/{{review_id}}", "pulls/get-review", get_review),
    ("GET", f"{PULL}/comments", "pulls/list-review-comments", review_comments),
    ("POST", f"{PULL}/comments/{{comment_id}}/replies", "pulls/create-reply-for-review-comment", reply),
    ("GET", f"{PULL}/requested_reviewers", "pulls/list-requested-reviewers", requested_reviewers),
    ("POST", f"{PULL}/requested_reviewers", "pulls/request-reviewers", request_reviewers),
)
