"""Landing a pull request for real in the bare repository."""

from agent_sync.emulator.operations.merges.landing import mark_merged
from agent_sync.emulator.operations.merges.mergeability import is_mergeable, merge_obstacle
from agent_sync.emulator.operations.merges.queueing import leave_queue
from agent_sync.emulator.operations.refs import HEADS, after_ref_changes
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.bare import Author
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.people import User, Viewer
from agent_sync.emulator.world.pulls import MergeMethod, PullRequest
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

GITHUB = ("GitHub", "noreply@github.com")


def merge_pull(
    world: World,
    viewer: Viewer,
    pull: PullRequest,
    *,
    method: MergeMethod = MergeMethod.MERGE,
    expected_head: str | None = None,
    title: str | None = None,
    message: str | None = None,
    bypass_checks: bool = False,
) -> str:
    """Land a pull request by one of the three methods and return the commit on the base branch."""
    require_role(viewer, pull.repository)
    _refuse_unmergeable(pull, expected_head, bypass_checks=bypass_checks)
    commit = _landed(world, viewer.user, pull, method, title=title, message=message)
    git = pull.repository.git
    git.set_ref(HEADS + pull.base, commit, old=pull.base_sha)
    leave_queue(pull)
    mark_merged(world, pull, by=viewer.user, commit=commit)
    after_ref_changes(world, pull.repository, by=viewer.user)
    return commit


def _refuse_unmergeable(pull: PullRequest, expected_head: str | None, *, bypass_checks: bool) -> None:
    if not pull.is_open or not is_mergeable(pull):
        raise Refused(Kind.NOT_MERGEABLE, "Pull Request is not mergeable")
    if pull.draft:
        raise Refused(Kind.NOT_MERGEABLE, "Pull Request is still a draft")
    if expected_head is not None and expected_head != pull.head_sha:
        raise Refused(Kind.CONFLICT, "Head branch was modified. Review and try the merge again.")
    obstacle = None if bypass_checks else merge_obstacle(pull)
    if obstacle:
        raise Refused(Kind.NOT_MERGEABLE, obstacle)
    if pull.repository.rules.merge_queue and not bypass_checks:
        raise Refused(Kind.NOT_MERGEABLE, "Changes must be made through the merge queue")


def _landed(
    world: World,
    user: User,
    pull: PullRequest,
    method: MergeMethod,
    *,
    title: str | None,
    message: str | None,
) -> str:
    git, when = pull.repository.git, timestamp(world.clock.now())
    author = Author(user.name, user.email, when)
    if method is MergeMethod.REBASE:
        return _rebased(pull.repository, pull, Author(user.name, user.email, when))
    tree = git.merged_tree(pull.base_sha, pull.head_sha) or ""
    if method is MergeMethod.MERGE:
        head_line = title or f"Merge pull request #{pull.number} from {pull.head_home.owner.login}/{pull.head}"
        text, parents = f"{head_line}\n\n{message or pull.title}\n", [pull.base_sha, pull.head_sha]
    else:
        body = message if message is not None else _joined_messages(pull)
        text, parents = f"{title or f'{pull.title} (#{pull.number})'}\n\n{body}\n", [pull.base_sha]
    return git.write_commit(tree, parents, text, author=author, committer=Author(*GITHUB, when))


def _joined_messages(pull: PullRequest) -> str:
    git = pull.repository.git
    commits = [git.commit(sha) for sha in git.commits_between(pull.base_sha, pull.head_sha)]
    if len(commits) == 1:
        return commits[0].message.partition("\n")[2].strip()
    return "\n\n".join(f"* {commit.message}" for commit in commits)


def _rebased(repository: Repository, pull: PullRequest, committer: Author) -> str:
    """Replay each commit; a stand-in child of its parent makes git find the right merge base."""
    git, tip = repository.git, pull.base_sha
    for sha in git.commits_between(pull.base_sha, pull.head_sha):
        commit = git.commit(sha)
        if len(commit.parents) != 1:
            continue
        stand_in = git.write_commit(git.commit(tip).tree, list(commit.parents), "base", author=committer)
        tree = git.merged_tree(stand_in, sha)
        if tree is None:
            raise Refused(Kind.NOT_MERGEABLE, "This branch can't be rebased")
        tip = git.write_commit(tree, [tip], commit.message + "\n", author=commit.author, committer=committer)
    return tip
