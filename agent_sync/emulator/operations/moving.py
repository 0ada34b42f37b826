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
