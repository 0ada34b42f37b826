"""Forks: a repository's copy in another account, whose branches can be proposed to the parent."""

from agent_sync.emulator.operations.refs import after_ref_changes
from agent_sync.emulator.operations.rights.access import require_visible
from agent_sync.emulator.world.people import Role, User, Viewer
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World


def fork_repository(world: World, viewer: Viewer, parent: Repository, *, name: str | None = None) -> Repository:
    """Copy a repository's branches into the viewer's account; issues and boards stay with the parent."""
    require_visible(world, viewer, parent)
    if viewer.user is parent.owner:
        raise Refused(Kind.FORBIDDEN, "You cannot fork your own repository.")
    known = world.repositories.get(f"{viewer.user.login}/{name or parent.name}".lower())
    if known is not None:
        return known
    fork = world.add_repository(viewer.user, name or parent.name, default_branch=parent.default_branch)
    fork.parent, fork.private, fork.has_issues = parent, parent.private, False
    fork.git.run("fetch", "--quiet", str(parent.git.path), "+refs/heads/*:refs/heads/*")
    after_ref_changes(world, fork, by=viewer.user)
    return fork


def fork_of(world: World, parent: Repository, owner: str) -> Repository | None:
    """Return an account's fork of a repository, if there is one."""
    forks = (entry for entry in world.repositories.values() if entry.parent is parent)
    return next((entry for entry in forks if entry.owner.login.lower() == owner.lower()), None)


def maintains(user: User, fork: Repository) -> bool:
    """Say whether someone may push to a fork because a pull request from there lets the maintainers do so."""
    if fork.parent is None or not fork.parent.role_of(user).reaches(Role.WRITE):
        return False
    return any(
        pull.is_open and pull.head_repository is fork and pull.maintainer_can_modify for pull in fork.parent.pulls
    )
