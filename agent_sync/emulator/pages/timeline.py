"""What happened to an issue or pull request, in order: comments, reviews and events."""

from datetime import datetime

from agent_sync.emulator.pages.layout import badge, listed, moment, section
from agent_sync.emulator.pages.markup import Content, Html, joined, tag
from agent_sync.emulator.pages.prose import prose
from agent_sync.emulator.world.conversations import Comment, Conversation, Event
from agent_sync.emulator.world.pulls import PullRequest, Review, ReviewComment, ReviewState, ReviewThread

# A review says more than the event that notes it.
_SHOWN_ELSEWHERE = frozenset({"reviewed"})
_WORDS = {
    "assigned": "assigned",
    "unassigned": "unassigned",
    "labeled": "added the label",
    "unlabeled": "removed the label",
    "renamed": "changed the title to",
    "closed": "closed this",
    "reopened": "reopened this",
    "merged": "merged this",
    "convert_to_draft": "made this a draft",
    "ready_for_review": "marked this ready for review",
    "base_ref_changed": "changed the base branch to",
    "review_requested": "asked for a review by",
    "sub_issue_added": "added the sub-issue #",
    "sub_issue_removed": "removed the sub-issue #",
    "parent_issue_added": "made this a sub-issue of #",
    "blocked_by_added": "marked this as blocked by #",
    "blocked_by_removed": "removed the block by #",
    "blocking_added": "marked this as blocking #",
    "head_ref_deleted": "deleted the branch",
    "head_ref_force_pushed": "force-pushed the branch",
}
_REVIEWS = {
    ReviewState.APPROVED: ("good", "✓", "approved these changes"),
    ReviewState.CHANGES_REQUESTED: ("bad", "✗", "asked for changes"),
    ReviewState.COMMENTED: ("dim", "…", "commented in a review"),
    ReviewState.DISMISSED: ("dim", "-", "left a review that was dismissed"),
    ReviewState.PENDING: ("dim", "…", "has begun a review"),
}


def timeline(entry: Conversation) -> Html:
    """Return comments and events, oldest first."""
    rows = [(comment.created_at, 0, _comment(comment)) for comment in entry.comments]
    rows += [(event.created_at, 1, _event(event)) for event in entry.events if event.kind not in _SHOWN_ELSEWHERE]
    rows.sort(key=lambda row: row[:2])
    return section("What happened", listed((shown for _, _, shown in rows), nothing="Nothing yet."))


def reviews(pull: PullRequest) -> Html:
    """Return the reviews with their words, and the threads with whether they are resolved."""
    rows = [_review(review) for review in pull.reviews] + [_thread(thread) for thread in pull.threads]
    asked = ", ".join(user.login for user in pull.requested_reviewers)
    waiting = [tag("p", f"Waiting for a review by {asked}.")] if asked else []
    return section("Reviews", *waiting, listed(rows, nothing="Nobody has reviewed this."))


def _event(event: Event) -> Html:
    said = _WORDS.get(event.kind, event.kind.replace("_", " "))
    subject = (event.subject or "") if said.endswith("#") else f" {event.subject}" if event.subject else ""
    return tag("p", _who(event.actor.login), f" {said}{subject}", _when(event.created_at), class_="event")


def _comment(comment: Comment) -> Html:
    head = tag("p", _who(comment.author.login), " commented", _when(comment.created_at), class_="by")
    text = prose(comment.body, comment.conversation.repository.full_name, nothing="An empty comment.")
    return tag("article", head, text, id=f"issuecomment-{comment.identity.number}")


def _review(review: Review) -> Html:
    kind, glyph, words = _REVIEWS[review.state]
    head = tag("p", _who(review.author.login), " ", badge(kind, glyph, words), _when(review.submitted_at), class_="by")
    body = [prose(review.body, review.pull.repository.full_name)] if review.body else []
    return tag("article", head, *body, id=f"pullrequestreview-{review.identity.number}")


def _thread(thread: ReviewThread) -> Html:
    state = badge("good", "✓", "resolved") if thread.is_resolved else badge("waiting", "…", "open")
    head = tag("p", tag("code", f"{thread.path}:{thread.line}"), " ", state, class_="by")
    said = [_remark(comment, thread.pull.repository.full_name) for comment in thread.comments]
    return tag("article", head, *said)


def _remark(comment: ReviewComment, repository: str) -> Html:
    by = tag("p", _who(comment.author.login), class_="by")
    return tag("div", by, prose(comment.body, repository), id=f"discussion_r{comment.identity.number}")


def _who(login: str) -> Content:
    return tag("strong", login)


def _when(when: datetime) -> Html:
    return joined([" ", tag("span", moment(when), class_="dim")])
