"""How issues hang together: sub-issues and blocked-by."""

from agent_sync.emulator.operations.changes import record
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.people import Role, Viewer
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.world import World

MOST_SUB_ISSUES = 100
MOST_DEPENDENCIES = 50


def add_sub_issue(world: World, viewer: Viewer, parent: Issue, child: Issue, *, replace_parent: bool = False) -> None:
    """Make one issue a part of another; an issue has one parent and no cycles."""
    require_role(viewer, parent.repository, Role.TRIAGE)
    if child.parent is not None and not replace_parent:
        raise _unprocessable("Issue may not contain duplicate sub-issues and Sub issue may only have one parent")
    if child is parent or child in _ancestors(parent):
        raise _unprocessable("Sub-issue cannot be an ancestor of its parent")
    if len(parent.sub_issues) >= MOST_SUB_ISSUES:
        raise _unprocessable("Parent cannot have more than 100 sub-issues")
    if child.parent is not None:
        child.parent.sub_issues.remove(child)
    child.parent = parent
    parent.sub_issues.append(child)
    record(world, parent, "sub_issue_added", by=viewer.user, subject=str(child.number))
    record(world, child, "parent_issue_added", by=viewer.user, subject=str(parent.number))


def remove_sub_issue(world: World, viewer: Viewer, parent: Issue, child: Issue) -> None:
    """Take a part out of an issue again."""
    require_role(viewer, parent.repository, Role.TRIAGE)
    if child.parent is not parent:
        raise Refused(Kind.NOT_FOUND, "The provided sub-issue does not belong to this issue")
    parent.sub_issues.remove(child)
    child.parent = None
    record(world, parent, "sub_issue_removed", by=viewer.user, subject=str(child.number))


def add_blocked_by(world: World, viewer: Viewer, issue: Issue, blocker: Issue) -> None:
    """Say that an issue waits for another."""
    require_role(viewer, issue.repository, Role.TRIAGE)
    if blocker is issue:
        raise _unprocessable("An issue cannot be blocked by itself")
    if blocker in issue.blocked_by:
        raise _unprocessable("Target issue has already been taken")
    if len(issue.blocked_by) >= MOST_DEPENDENCIES:
        raise _unprocessable("An issue can be blocked by at most 50 issues")
    issue.blocked_by.append(blocker)
    blocker.blocking.append(issue)
    record(world, issue, "blocked_by_added", by=viewer.user, subject=str(blocker.number))
    record(world, blocker, "blocking_added", by=viewer.user, subject=str(issue.number))


def remove_blocked_by(world: World, viewer: Viewer, issue: Issue, blocker: Issue) -> None:
    """Say that an issue no longer waits for another."""
    require_role(viewer, issue.repository, Role.TRIAGE)
    if blocker not in issue.blocked_by:
        raise Refused(Kind.NOT_FOUND, "The blocking issue does not exist")
    issue.blocked_by.remove(blocker)
    blocker.blocking.remove(issue)
    record(world, issue, "blocked_by_removed", by=viewer.user, subject=str(blocker.number))


def _ancestors(issue: Issue) -> list[Issue]:
    found = []
    while issue.parent is not None:
        issue = issue.parent
        found.append(issue)
    return found


def _unprocessable(message: str) -> Refused:
    return Refused(Kind.UNPROCESSABLE, message)
