"""Several refs at once, each only if it still is what the caller saw: the interface's compare-and-swap."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_sync.emulator.operations.refs import HEADS, after_ref_changes, check_name, check_object
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.bare import ZERO, GitFailed
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World


@dataclass(frozen=True)
class RefUpdate:
    """Where a ref goes (zeros delete it), and what it has to be before; nothing means that it is not looked at."""

    name: str
    after: str
    before: str | None = None
    force: bool = False

    @property
    def deletes(self) -> bool:
        """Say whether the ref goes away."""
        return self.after == ZERO


def update_refs(world: World, viewer: Viewer, repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Move, create and delete refs together; if one is refused, none is touched."""
    require_role(viewer, repository)
    if len({update.name for update in updates}) < len(updates):
        raise Refused(Kind.UNPROCESSABLE, "Only one update per ref is allowed.")
    lines = [_line(repository, update) for update in updates]
    try:
        repository.git.run("update-ref", "--stdin", text="".join(lines))
    except GitFailed as failure:
        raise Refused(Kind.UNPROCESSABLE, f"Reference update failed: {failure}") from failure
    after_ref_changes(world, repository, by=viewer.user)


def _line(repository: Repository, update: RefUpdate) -> str:
    check_name(repository, update.name)
    now = repository.git.ref(update.name) or ZERO
    if update.before is not None and update.before != now:
        raise _rejected(update, f"expected {update.before} but it is {now}")
    if update.deletes:
        if now == ZERO or update.name == HEADS + repository.default_branch:
            raise _rejected(update, "it cannot be deleted")
        return f"delete {update.name} {now}\n"
    check_object(repository, update.name, update.after)
    if now != ZERO and not update.force and not repository.git.is_ancestor(now, update.after):
        raise _rejected(update, "the update is not a fast forward")
    return f"update {update.name} {update.after} {now}\n"


def _rejected(update: RefUpdate, why: str) -> Refused:
    return Refused(Kind.UNPROCESSABLE, f"Reference update failed for {update.name}: {why}.")
