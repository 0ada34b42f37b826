"""Refs: create, move and delete them, and let pull requests follow their branches."""

import fnmatch
import re

from agent_sync.emulator.operations.changes import mark_closed, record
from agent_sync.emulator.operations.merges.landing import close_by_commits, mark_merged
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.bare import ZERO, GitFailed
from agent_sync.emulator.world.people import User, Viewer
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

HEADS = "refs/heads/"
FULL_SHA = re.compile(r"[0-9a-f]{40}")


def create_ref(world: World, viewer: Viewer, repository: Repository, name: str, sha: str) -> None:
    """Create a ref if it does not exist."""
    require_role(viewer, repository)
    if not repository.git.refs():
        raise Refused(Kind.CONFLICT, "Git Repository is empty.")
    check_name(repository, name)
    check_object(repository, name, sha)
    try:
        repository.git.set_ref(name, sha, old=ZERO)
    except GitFailed as failure:
        raise Refused(Kind.UNPROCESSABLE, "Reference already exists") from failure
    after_ref_changes(world, repository, by=viewer.user)


def update_ref(
    world: World, viewer: Viewer, repository: Repository, name: str, sha: str, *, force: bool = False
) -> None:
    """Move a ref; only forward, unless forced."""
    require_role(viewer, repository)
    before = _existing(repository, name)
    check_name(repository, name)
    check_object(repository, name, sha)
    if not force and not repository.git.is_ancestor(before, sha):
        raise Refused(Kind.UNPROCESSABLE, "Update is not a fast forward")
    repository.git.set_ref(name, sha, old=before)
    after_ref_changes(world, repository, by=viewer.user)


def delete_ref(world: World, viewer: Viewer, repository: Repository, name: str) -> None:
    """Delete a ref; open pull requests from a deleted branch are closed."""
    require_role(viewer, repository)
    before = _existing(repository, name)
    check_name(repository, name)
    if name == HEADS + repository.default_branch:
        raise Refused(Kind.UNPROCESSABLE, "Cannot delete the default branch")
    repository.git.set_ref(name, None, old=before)
    after_ref_changes(world, repository, by=viewer.user)


def is_refused(repository: Repository, name: str) -> bool:
    """Say whether a rule of the repository forbids changing a ref."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in repository.refused_refs)


def refuse_refs(repository: Repository, pattern: str | None) -> None:
    """Forbid changes to refs that match, or that lie below a plain name; None lifts every such rule."""
    if not pattern:
        repository.refused_refs.clear()
    elif any(sign in pattern for sign in "*?["):
        repository.refused_refs.append(pattern)
    else:
        repository.refused_refs += [pattern, pattern.rstrip("/") + "/*"]
    repository.git.refuse_refs(repository.refused_refs)


def after_ref_changes(world: World, repository: Repository, *, by: User) -> None:
    """Let the world catch up with the bare repository after any change to its branches."""
    now = {name.removeprefix(HEADS): sha for name, sha in repository.git.refs(HEADS).items()}
    before, repository.known_branches = repository.known_branches, now
    moved = {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
    if not moved:
        return
    for pull in [*_open_pulls(repository), *(_open_pulls(repository.parent) if repository.parent else ())]:
        if pull.head_home is repository and pull.head in moved:
            _follow_head(world, pull, now.get(pull.head), by=by)
        if pull.is_open and pull.repository is repository and pull.base in moved:
            _follow_base(world, pull, now.get(pull.base), by=by)
    trunk = repository.default_branch
    if trunk in moved and trunk in before and trunk in now:
        new = repository.git.commits_between(before[trunk], now[trunk])
        close_by_commits(world, repository, new, by=by)


def _open_pulls(repository: Repository) -> list[PullRequest]:
    return [pull for pull in repository.pulls if pull.is_open]


def bring_head(pull: PullRequest, sha: str) -> None:
    """Copy the commits of a fork's branch to where they are proposed."""
    if pull.head_repository is not None:
        pull.repository.git.run("fetch", "--quiet", str(pull.head_repository.git.path), sha)


def show_head(pull: PullRequest) -> None:
    """Keep the ref under which a pull request's head stays reachable after its branch is gone."""
    pull.repository.git.set_ref(f"refs/pull/{pull.number}/head", pull.head_sha, old=None)


def _follow_head(world: World, pull: PullRequest, sha: str | None, *, by: User) -> None:
    if sha is None:
        record(world, pull, "head_ref_deleted", by=by)
        mark_closed(world, pull, by=by)
        return
    bring_head(pull, sha)
    before, pull.head_sha = pull.head_sha, sha
    forced = not pull.repository.git.is_ancestor(before, sha)
    pull.updated_at = world.clock.now()
    show_head(pull)
    if forced:
        record(world, pull, "head_ref_force_pushed", by=by, commit=sha, previous=before)


def _follow_base(world: World, pull: PullRequest, sha: str | None, *, by: User) -> None:
    if sha is None:
        mark_closed(world, pull, by=by)
        return
    if pull.repository.git.is_ancestor(pull.head_sha, sha):
        mark_merged(world, pull, by=by, commit=pull.head_sha)
    else:
        pull.base_sha = sha


def _existing(repository: Repository, name: str) -> str:
    sha = repository.git.ref(name)
    if sha is None:
        raise Refused(Kind.UNPROCESSABLE, "Reference does not exist")
    return sha


def check_name(repository: Repository, name: str) -> None:
    """Refuse a name that no ref can have, or that a rule protects."""
    if not name.startswith("refs/") or not repository.git.succeeds("check-ref-format", name):
        raise Refused(Kind.UNPROCESSABLE, f"{name} is not a valid ref name.")
    if name.startswith("refs/pull/") or is_refused(repository, name):
        raise Refused(Kind.UNPROCESSABLE, "Repository rule violations found\n\nCannot update this protected ref.\n\n")


def check_object(repository: Repository, name: str, sha: str) -> None:
    """Refuse to let a ref point at nothing; a branch has to point at a commit."""
    wanted = "commit" if name.startswith(HEADS) else "object"
    if not FULL_SHA.fullmatch(sha) or not repository.git.succeeds("cat-file", "-e", f"{sha}^{{{wanted}}}"):
        raise Refused(Kind.UNPROCESSABLE, "Object does not exist")
