"""Who may do what: the refusals that come before any other."""

from agent_sync.emulator.operations.rights.policies import require_welcome
from agent_sync.emulator.world.boards import Project
from agent_sync.emulator.world.people import Role, Viewer
from agent_sync.emulator.world.refusal import Kind, Refused, not_found
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.tokens import TokenKind
from agent_sync.emulator.world.world import World

ARCHIVED = "Repository was archived so is read-only."


def require_writing_token(viewer: Viewer) -> None:
    """Refuse a token that may only read."""
    if not viewer.may_write:
        raise Refused(Kind.FORBIDDEN, viewer.no_access)


def has_role(viewer: Viewer, repository: Repository, role: Role) -> bool:
    """Say whether the viewer's role in a repository includes another one; an installed application has one."""
    if viewer.overrules or viewer.kind in {TokenKind.APP, TokenKind.ACTIONS}:
        return True
    return repository.role_of(viewer.user).reaches(role)


def is_visible(viewer: Viewer, repository: Repository) -> bool:
    """Say whether the viewer may know that a repository is there."""
    hidden = repository.private and viewer.has_scopes and "repo" not in viewer.scopes
    return not hidden and has_role(viewer, repository, Role.READ)


def require_visible(world: World, viewer: Viewer, repository: Repository) -> Repository:
    """Return a repository, or refuse it to those who must not see it or whom its organisation keeps out."""
    if not is_visible(viewer, repository):
        raise not_found(f"Could not resolve to a Repository with the name '{repository.full_name}'.")
    require_welcome(world, viewer, repository.owner)
    return repository


def require_role(viewer: Viewer, repository: Repository, role: Role = Role.WRITE) -> None:
    """Refuse a change to a repository by someone whose token, role or the repository's state forbids it."""
    require_writing_token(viewer)
    if repository.archived and not viewer.overrules:
        raise Refused(Kind.FORBIDDEN, ARCHIVED)
    if not has_role(viewer, repository, role):
        raise Refused(Kind.FORBIDDEN, f"Must have {role} access to Repository {repository.full_name}.")


def require_projects(viewer: Viewer) -> None:
    """Refuse a token that does not reach Projects."""
    if not viewer.may_use_projects and not viewer.has_scopes:
        raise Refused(Kind.FORBIDDEN, viewer.no_access)
    if not viewer.may_use_projects:
        granted = ", ".join(repr(scope) for scope in viewer.scopes)
        raise Refused(
            Kind.INSUFFICIENT_SCOPES,
            "Your token has not been granted the required scopes to execute this query. "
            "This operation requires one of the following scopes: ['read:project'], "
            f"but your token has only been granted the: [{granted}] scopes. "
            "Please modify your token's scopes at: https://github.com/settings/tokens.",
        )


def may_write_project(world: World, viewer: Viewer, project: Project) -> bool:
    """Say whether the viewer may change a board: its owner, and whoever may write to the owner's code."""
    if viewer.user is project.owner or viewer.overrules:
        return True
    if viewer.kind is TokenKind.APP:
        return viewer.may("organization_projects", "write")
    own = (entry for entry in world.repositories.values() if entry.owner is project.owner)
    return any(entry.role_of(viewer.user).reaches(Role.WRITE) for entry in own)


def require_board_write(world: World, viewer: Viewer, project: Project) -> None:
    """Refuse a change to a board by someone who may not make it."""
    require_projects(viewer)
    require_writing_token(viewer)
    if not may_write_project(world, viewer, project):
        raise Refused(
            Kind.FORBIDDEN,
            f"{viewer.user.login} does not have the correct permissions to change this project",
        )
