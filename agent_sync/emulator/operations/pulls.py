"""Operations on pull requests: open, edit, close, reopen, draft, retarget."""

from agent_sync.emulator.operations.changes import mark_closed, mark_open, record
from agent_sync.emulator.operations.forks import fork_of
from agent_sync.emulator.operations.issues import check_text
from agent_sync.emulator.operations.refs import bring_head, show_head
from agent_sync.emulator.operations.rights.access import require_role
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
    head_repository: Repository | None = None,
) -> PullRequest:
    """Open a pull request between two branches of the repository, or from a branch of a fork."""
    owner, _, branch = head.rpartition(":")
    source = head_repository or _source(world, repository, owner)
    is_fork, head = source is not repository, branch
    require_role(viewer, repository, Role.READ if is_fork else Role.WRITE)
    require_role(viewer, source)
    check_text("PullRequest", title, body)
    _refuse_duplicate(source, repository, head, base)
    if is_fork and source.git.ref(f"refs/heads/{head}"):
        repository.git.run("fetch", "--quiet", str(source.git.path), f"refs/heads/{head}")
    head_sha, base_sha = _compared(repository, source, head, base)
    now = world.clock.now()
    pull = PullRequest(
        identity=world.identify("PR"), issue_identity=world.identify("I"), repository=repository,
        number=repository.next_number(), title=title, body=body, author=viewer.user, created_at=now,
        updated_at=now, head=head, head_sha=head_sha, base=base, base_sha=base_sha, draft=draft,
        maintainer_can_modify=is_fork and maintainer_can_modify, head_repository=source if is_fork else None,
    )  # fmt: skip
    repository.conversations[pull.number] = pull
    show_head(pull)
    return world.register(pull.id, pull)


def _source(world: World, repository: Repository, owner: str) -> Repository:
    if owner in {"", repository.owner.login}:
        return repository
    found = fork_of(world, repository, owner)
    if found is None:
        raise invalid("PullRequest", "head")
    return found


def _refuse_duplicate(source: Repository, repository: Repository, head: str, base: str) -> None:
    same = (pull for pull in repository.pulls if pull.is_open and (pull.head, pull.base) == (head, base))
    if any(pull.head_home is source for pull in same):
        raise custom("PullRequest", f"A pull request already exists for {source.owner.login}:{head}.")


def _compared(repository: Repository, source: Repository, head: str, base: str) -> tuple[str, str]:
    head_sha = source.git.ref(f"refs/heads/{head}")
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
    if not repository.git.succeeds("merge-base", base_sha, head_sha):
        raise custom("PullRequest", f"The {head} branch has no history in common with {base}")
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
    head_sha = pull.head_home.git.ref(f"refs/heads/{pull.head}")
    if head_sha is None:
        raise _state_refused(f"The {pull.head} branch has been deleted.")
    if any(other.is_open and (other.head, other.base) == (pull.head, pull.base) for other in pull.repository.pulls):
        raise _state_refused(f"There is already an open pull request from {pull.head} to {pull.base}.")
    bring_head(pull, head_sha)
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
    _refuse_duplicate(pull.head_home, pull.repository, pull.head, base)
    previous, pull.base, pull.base_sha = pull.base, base, base_sha
    record(world, pull, "base_ref_changed", by=viewer.user, subject=base, previous=previous)


def _state_refused(sentence: str) -> Refused:
    return invalid("PullRequest", "state", message=f"state cannot be changed. {sentence}")


def _require_author_or_writer(viewer: Viewer, pull: PullRequest) -> None:
    require_role(viewer, pull.repository, Role.READ if pull.author is viewer.user else Role.WRITE)
