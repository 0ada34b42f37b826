"""Reviews and review threads."""

from collections.abc import Iterable
from dataclasses import dataclass

from agent_sync.emulator.operations.changes import record
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.people import Role, User, Viewer
from agent_sync.emulator.world.pulls import PullRequest, Review, ReviewComment, ReviewState, ReviewThread
from agent_sync.emulator.world.refusal import Kind, Problem, Refused
from agent_sync.emulator.world.world import World

OWN = {ReviewState.APPROVED: "approve", ReviewState.CHANGES_REQUESTED: "request changes on"}


@dataclass(frozen=True)
class NewThread:
    """A remark at one line of the change."""

    path: str
    line: int
    body: str


def submit_review(
    world: World,
    viewer: Viewer,
    pull: PullRequest,
    *,
    state: ReviewState,
    body: str = "",
    threads: Iterable[NewThread] = (),
    may_judge_own: bool = False,
) -> Review:
    """Review a pull request; nobody approves or rejects their own."""
    require_role(viewer, pull.repository, Role.READ)
    if pull.author is viewer.user and state in OWN and not may_judge_own:
        sentence = f"Can not {OWN[state]} your own pull request"
        raise Refused(Kind.UNPROCESSABLE, sentence, Problem.sentence(sentence))
    review = Review(
        identity=world.identify("PRR"), pull=pull, author=viewer.user, state=state, body=body,
        commit=pull.head_sha, submitted_at=world.clock.now(),
    )  # fmt: skip
    pull.reviews.append(review)
    world.register(review.id, review)
    for new in threads:
        _open_thread(world, review, new)
    if viewer.user in pull.requested_reviewers:
        pull.requested_reviewers.remove(viewer.user)
    record(world, pull, "reviewed", by=viewer.user)
    return review


def _open_thread(world: World, review: Review, new: NewThread) -> None:
    thread = ReviewThread(
        identity=world.identify("PRRT"), pull=review.pull, path=new.path, line=new.line, commit=review.commit
    )
    review.pull.threads.append(thread)
    world.register(thread.id, thread)
    _comment(world, thread, review, new.body)


def _comment(world: World, thread: ReviewThread, review: Review, body: str) -> ReviewComment:
    now = world.clock.now()
    comment = ReviewComment(
        identity=world.identify("PRRC"), thread=thread, review=review, author=review.author, body=body,
        created_at=now, updated_at=now,
    )  # fmt: skip
    thread.comments.append(comment)
    review.comments.append(comment)
    return world.register(comment.id, comment)


def reply_to_thread(world: World, viewer: Viewer, thread: ReviewThread, body: str) -> ReviewComment:
    """Answer in a thread; GitHub wraps the answer in a review of its own."""
    review = submit_review(world, viewer, thread.pull, state=ReviewState.COMMENTED)
    return _comment(world, thread, review, body)


def resolve_thread(world: World, viewer: Viewer, thread: ReviewThread, *, resolved: bool = True) -> None:
    """Mark a thread as settled, or open it again."""
    require_role(viewer, thread.pull.repository, Role.TRIAGE)
    thread.is_resolved = resolved
    thread.resolved_by = viewer.user if resolved else None
    thread.pull.updated_at = world.clock.now()


def request_reviewers(world: World, viewer: Viewer, pull: PullRequest, users: Iterable[User]) -> None:
    """Ask people for a review; an author cannot be asked for their own pull request."""
    require_role(viewer, pull.repository)
    for user in users:
        if user is pull.author:
            raise Refused(Kind.UNPROCESSABLE, "Review cannot be requested from pull request author.")
        if user not in pull.requested_reviewers:
            pull.requested_reviewers.append(user)
            record(world, pull, "review_requested", by=viewer.user, subject=user.login)


def opinions_of(pull: PullRequest) -> dict[str, ReviewState]:
    """Return the newest opinion of each reviewer who may write: others have no say."""
    return {
        review.author.login: review.state
        for review in pull.reviews
        if review.state is not ReviewState.COMMENTED and pull.repository.role_of(review.author).reaches(Role.WRITE)
    }


def approvals(pull: PullRequest) -> int:
    """Return how many reviewers approve of a pull request."""
    return sum(state is ReviewState.APPROVED for state in opinions_of(pull).values())


def review_decision(pull: PullRequest) -> ReviewState | None:
    """Return what the newest opinion of each reviewer adds up to, if there is one."""
    opinions = opinions_of(pull)
    if ReviewState.CHANGES_REQUESTED in opinions.values():
        return ReviewState.CHANGES_REQUESTED
    return ReviewState.APPROVED if ReviewState.APPROVED in opinions.values() else None
