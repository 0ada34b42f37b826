"""The table of acts, and performing one."""

from collections.abc import Callable
from typing import Any

from agent_sync.emulator.acts import code, planning
from agent_sync.emulator.acts.act import Act, ImpossibleActError
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.world import World

Outcome = dict[str, int | str]

ACTS: dict[str, Callable[[Act], Outcome]] = {
    act.__name__: act
    for act in (
        code.add_check,
        code.complete_check,
        code.add_status,
        code.merge_pull,
        code.close_pull,
        code.reopen_pull,
        code.draft_pull,
        code.ready_pull,
        code.retarget_pull,
        code.push_commit,
        code.delete_branch,
        code.review,
        planning.add_issue,
        planning.close_issue,
        planning.reopen_issue,
        planning.block_issue,
        planning.sub_issue,
        planning.comment,
        planning.set_field,
        planning.rename_option,
        planning.archive_item,
        planning.remove_item,
        planning.add_item,
        planning.grow_board,
        planning.automation,
        planning.refuse_refs,
        planning.read_only,
        planning.role,
    )
}


def perform(world: World, request: dict[str, Any]) -> Outcome:
    """Perform one act and return the number or id of what it made or changed."""
    name = request.get("act")
    if name not in ACTS:
        raise ImpossibleActError(f"unknown act {name!r}; known: {', '.join(ACTS)}")
    fields = {key: value for key, value in request.items() if key not in {"act", "by", "repo"}}
    owner, _, repository = str(request.get("repo", f"{world.default_login}/demo")).partition("/")
    by = Viewer(world.collaborator(str(request.get("by", world.default_login))), overrules=True)
    return ACTS[name](Act(world, by, world.repository(owner, repository), fields))
