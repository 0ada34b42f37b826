"""What tokens with permissions may do, by area: the newer kind of limit, beside scopes and roles."""

from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.refusal import Kind, Refused

ISSUES, PULLS, CONTENTS, PROJECTS = "issues", "pull_requests", "contents", "organization_projects"
EITHER = (ISSUES, PULLS)

BY_NAME = (("ProjectV2", (PROJECTS,)), ("PullRequest", (PULLS,)), ("Review", (PULLS,)), ("Ref", (CONTENTS,)))
EXCEPTIONS = {
    "createLinkedBranch": (CONTENTS,),
    "mergePullRequest": (CONTENTS,),
    "enqueuePullRequest": (CONTENTS,),
    "revertPullRequest": (CONTENTS,),
}
OPERATIONS = {"issues": EITHER, "pulls": (PULLS,), "git": (CONTENTS,), "checks": ("checks",), "actions": ("actions",)}
SINGLE_OPERATIONS = {
    "pulls/merge": (CONTENTS,),
    "repos/create-commit-status": ("statuses",),
    "repos/create-fork": ("administration",),
}


def mutation_areas(name: str) -> tuple[str, ...]:
    """Return the areas of a mutation, any one of which is enough."""
    known = (areas for part, areas in BY_NAME if part in name)
    return EXCEPTIONS.get(name) or next(known, EITHER)


def operation_areas(operation: str) -> tuple[str, ...]:
    """Return the areas of a REST operation, any one of which is enough."""
    return SINGLE_OPERATIONS.get(operation) or OPERATIONS.get(operation.partition("/")[0], ("metadata",))


def require_permission(viewer: Viewer, areas: tuple[str, ...], level: str) -> None:
    """Refuse a token that has no sufficient permission in any of the areas."""
    if not any(viewer.may(area, level) for area in areas):
        needed = "; ".join(f"{area}={level}" for area in areas)
        raise Refused(Kind.FORBIDDEN, viewer.no_access, headers={"x-accepted-github-permissions": needed})
