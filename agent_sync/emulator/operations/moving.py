"""Moving things: repositories get other names and owners, issues other repositories."""

from agent_sync.emulator.operations.changes import record
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.people import Role, User, Viewer
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World


def move_repository(
    world: World, repository: Repository, *, owner: User | None = None, name: str | None = None
) -> None:
    """Give a repository another owner or name; the old name leads to the new one."""
    before = repository.full_name.lower()
    target = f"{(owner or repository.owner).login}/{name or repository.name}".lower()
    if target in world.repositories:
        raise Refused(Kind.UNPROCESSABLE, "Name already exists on this account")
    del world.repositories[before]
    repository.owner, repository.name = owner or repository.owner, name or repository.name
    world.repositories[target] = repository
    world.moved[before] = repository
    world.moved.pop(target, None)


def rename_owner(world: World, owner: User, login: str) -> None:
    """Give an account another login; its repositories are found under their old names, the account is not."""
    if login.lower() in world.users:
        raise Refused(Kind.UNPROCESSABLE, "Login already taken")
    before = {entry.full_name.lower(): entry for entry in world.repositories.values() if entry.owner is owner}
    boards = [number for (_, number), board in world.projects.items() if board.owner is owner]
    old_login, new_login = owner.login.lower(), login.lower()
    world.users[new_login] = world.users.pop(old_login)
    owner.login = login
    for number in boards:
        world.projects[new_login, number] = world.projects.pop((old_login, number))
    for repository in world.repositories.values():
        if old_login in repository.roles:
            repository.roles[new_login] = repository.roles.pop(old_login)
    for old, repository in before.items():
        del world.repositories[old]
        world.repositories[repository.full_name.lower()] = repository
        world.moved[old] = repository


def transfer_issue(world: World, viewer: Viewer, issue: Issue, target: Repository) -> Issue:
    """Move an issue to another repository, where it gets a number of its own; its cards and relations go along."""
    source = issue.repository
    require_role(viewer, source, Role.WRITE)
    require_role(viewer, target, Role.WRITE)
    if source is target:
        raise Refused(Kind.UNPROCESSABLE, "The issue is already in this repository")
    del source.conversations[issue.number]
    source.transferred[issue.number] = issue
    issue.repository, issue.number = target, target.next_number()
    target.conversations[issue.number] = issue
    issue.labels = [label for label in issue.labels if label.name.lower() in target.labels]
    record(world, issue, "transferred", by=viewer.user, subject=source.full_name)
    return issue
