"""The table of acts, and performing one."""

from collections.abc import Callable
from typing import Any

from agent_sync.emulator.acts import access, ci, code, drift, merging, planning
from agent_sync.emulator.acts.act import Act, ImpossibleActError
from agent_sync.emulator.operations.merges.auto_merging import carry_out
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.world import World

Outcome = dict[str, int | str]

ACTS: dict[str, Callable[[Act], Outcome]] = {
    act.__name__: act
    for act in (
        ci.add_run,
        ci.complete_run,
        ci.approve_run,
        ci.add_check,
        ci.complete_check,
        ci.rerun_check,
        ci.add_status,
        ci.require_checks,
        merging.rules,
        merging.merge_pull,
        merging.enqueue_pull,
        merging.eject_pull,
        merging.auto_merge,
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
        planning.set_type,
        planning.rename_option,
        planning.archive_item,
        planning.remove_item,
        planning.add_item,
        planning.grow_board,
        planning.automation,
        drift.assign,
        drift.label,
        drift.request_review,
        drift.reply_thread,
        drift.resolve_thread,
        drift.force_push,
        drift.update_branch,
        drift.revert_pull,
        drift.transfer_issue,
        drift.rename_repository,
        drift.transfer_repository,
        drift.fork,
        drift.rename_owner,
        access.git_credentials,
        access.refuse_refs,
        access.push_limit,
        access.push_only,
        access.token,
        access.access_policy,
        access.visibility,
        access.weight_limit,
        access.read_only,
        access.role,
    )
}


def _default_repository(world: World) -> str:
    usual = f"{world.default_login}/demo"
    names = [repository.full_name for repository in world.repositories.values()]
    return usual if usual in names or not names else names[0]


def perform(world: World, request: dict[str, Any]) -> Outcome:
    """Perform one act and return the number or id of what it made or changed."""
    name = request.get("act")
    if name not in ACTS:
        raise ImpossibleActError(f"unknown act {name!r}; known: {', '.join(ACTS)}")
    fields = {key: value for key, value in request.items() if key not in {"act", "by", "repo"}}
    owner, _, repository = str(request.get("repo") or _default_repository(world)).partition("/")
    by = Viewer(world.collaborator(str(request.get("by", world.default_login))), overrules=True)
    outcome = ACTS[name](Act(world, by, world.repository(owner, repository), fields))
    carry_out(world)
    return outcome
