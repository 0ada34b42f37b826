"""Operations on pull requests: open, edit, close, reopen, draft, retarget."""

from agent_sync.emulator.operations.access import require_role
from agent_sync.emulator.operations.changes import mark_closed, mark_open, record
from agent_sync.emulator.operations.issues import check_text
from agent_sync.emulator.operations.refs import show_head
from agent_sync.emulator.world.people import Role, Viewer
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.refusal import Kind, Problem, Refused, custom, invalid, not_found
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World


def find_pull(repository: Repository, number: int) -> PullRequest:
    """Return the pull request of that number, or refuse."""
    found = repository.conversations.get(number)
    if not isinstance(found, PullRequest):
        raise not_found(f"Could not resolve to a PullRequest with the number of {number}.")
    return found


def create_pull(
    world: World,
    viewer: Viewer,
    repository: Repository,
    *,
    title: str,
    head: str,
    base: str,
    body: str | None = None,
    draft: bool = False,
    maintainer_can_modify: bool = True,
) -> PullRequest:
    """Open a pull request between two branches of the repository."""
    require_role(viewer, repository)
    head = head.removeprefix(f"{repository.owner.login}:")
    check_text("PullRequest", title, body)
    _refuse_duplicate(repository, head, base)
    head_sha, base_sha = _compared(repository, head, base)
    now = world.clock.now()
    pull = PullRequest(
        identity=world.identify("PR"), issue_identity=world.identify("I"), repository=repository,
        number=repository.next_number(), title=title, body=body, author=viewer.user, created_at=now,
        updated_at=now, head=head, head_sha=head_sha, base=base, base_sha=base_sha, draft=draft,
        maintainer_can_modify=maintainer_can_modify,
    )  # fmt: skip
    repository.conversations[pull.number] = pull
    show_head(pull)
    return world.register(pull.id, pull)


def _refuse_duplicate(repository: Repository, head: str, base: str) -> None:
    if any(pull.is_open and (pull.head, pull.base) == (head, base) for pull in repository.pulls):
        raise custom("PullRequest", f"A pull request already exists for {repository.owner.login}:{head}.")


def _compared(repository: Repository, head: str, base: str) -> tuple[str, str]:
    head_sha = repository.git.ref(f"refs/heads/{head}")
    base_sha = repository.git.ref(f"refs/heads/{base}")
    nothing_between = f"No commits between {base} and {head}"
    if head_sha is None or base_sha is None:
        missing, field = ("Head", "head") if head_sha is None else ("Base", "base")
        raise Refused(
            Kind.UNPROCESSABLE,
            f"Head sha can't be blank, Base sha can't be blank, {nothing_between}, {missing} ref must be a branch",
            Problem("PullRequest", "invalid", field=field),
        )
    if not repository.git.commits_between(base_sha, head_sha):
        raise custom("PullRequest", nothing_between)
    return head_sha, base_sha


def edit_pull(
    world: World, viewer: Viewer, pull: PullRequest, *, title: str | None = None, body: str | None = None
) -> None:
    """Change title or body."""
    _require_author_or_writer(viewer, pull)
    check_text("PullRequest", title, body)
    pull.title = pull.title if title is None else title
    pull.body = pull.body if body is None else body
    pull.updated_at = world.clock.now()


def close_pull(world: World, viewer: Viewer, pull: PullRequest) -> None:
    """Close a pull request without merging it."""
    _require_author_or_writer(viewer, pull)
    if pull.is_open:
        mark_closed(world, pull, by=viewer.user)


def reopen_pull(world: World, viewer: Viewer, pull: PullRequest) -> None:
    """Open a closed pull request again, if its branch still is there and nothing has taken its place."""
    _require_author_or_writer(viewer, pull)
    if pull.is_open:
        return
    if pull.merged:
        raise _state_refused("The pull request cannot be reopened.")
    head_sha = pull.repository.git.ref(f"refs/heads/{pull.head}")
    if head_sha is None:
        raise _state_refused(f"The {pull.head} branch has been deleted.")
    if any(other.is_open and (other.head, other.base) == (pull.head, pull.base) for other in pull.repository.pulls):
        raise _state_refused(f"There is already an open pull request from {pull.head} to {pull.base}.")
    pull.head_sha = head_sha
    mark_open(world, pull, by=viewer.user)
    show_head(pull)


def set_draft(world: World, viewer: Viewer, pull: PullRequest, *, draft: bool) -> None:
    """Turn a pull request into a draft, or mark it ready for review."""
    _require_author_or_writer(viewer, pull)
    if not pull.is_open:
        raise Refused(Kind.UNPROCESSABLE, "Pull request is closed")
    if pull.draft != draft:
        pull.draft = draft
        record(world, pull, "convert_to_draft" if draft else "ready_for_review", by=viewer.user)


def retarget(world: World, viewer: Viewer, pull: PullRequest, base: str) -> None:
    """Let a pull request go into another branch."""
    _require_author_or_writer(viewer, pull)
    if base == pull.base:
        return
    if not pull.is_open:
        raise custom("PullRequest", "Cannot change the base branch of a closed pull request.")
    base_sha = pull.repository.git.ref(f"refs/heads/{base}")
    if base_sha is None:
        raise invalid("PullRequest", "base", message=f"Proposed base branch '{base}' was not found")
    _refuse_duplicate(pull.repository, pull.head, base)
    pull.base, pull.base_sha = base, base_sha
    record(world, pull, "base_ref_changed", by=viewer.user, subject=base)


def _state_refused(sentence: str) -> Refused:
    return invalid("PullRequest", "state", message=f"state cannot be changed. {sentence}")


def _require_author_or_writer(viewer: Viewer, pull: PullRequest) -> None:
    require_role(viewer, pull.repository, Role.READ if pull.author is viewer.user else Role.WRITE)
