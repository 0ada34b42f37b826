"""Finds and removes what agent-sync has left in a clone beside what `init` wrote, and names what stays elsewhere."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import WrongState
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.refs.transports import CloneTransport
from agent_sync.leases.refs.values import CLAIMS, HOOKS, OURS, PROBES, RESCUE, TRACKING, RefUpdate
from agent_sync.record.disk.recorder import atlas_home, workspace_of
from agent_sync.record.keep import recorder_at
from agent_sync.system import files, git_branches
from agent_sync.task.claim.exclude import LOCK_NAME
from agent_sync.work.forge import ROOT as FORGE, is_generated
from agent_sync.worktree import GATE_LOG_DIR, Place, worktree

LOCK_WAIT_S = 5.0
_OF_THIS_CLONE = (TRACKING, CLAIMS, HOOKS, PROBES)


@dataclass(frozen=True)
class PurgePlan:
    """Directories and refs that go, the line of ours in `info/exclude`, and what stays, in words."""

    directories: tuple[Path, ...]
    refs: tuple[RefUpdate, ...]
    stays: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to be removed."""
        return not self.directories and not self.refs

    def lines(self) -> Iterator[str]:
        """Say what goes, with how much there is of it."""
        for path in self.directories:
            yield f"{path} ({sum(file.is_file() for file in path.rglob('*'))} files)"
        if self.refs:
            yield f"{len(self.refs)} refs of this clone below {OURS}"


def purge_plan(context: Context) -> PurgePlan:
    """Return everything that goes and stays; refuse while a worktree of the clone holds a claim."""
    places = _places(context)
    _refuse_held(context, places)
    transport = CloneTransport(context.git, context.settings.git.remote)
    refs = tuple(RefUpdate(ref.name, ref.sha, "") for name in _OF_THIS_CLONE for ref in transport.known(name))
    records = atlas_home(context.environment) / "workspaces" / workspace_of(context.place)
    views = [Path(place.root) / FORGE for place in places if is_generated(Path(place.root) / FORGE)]
    # The state goes last: until then it says what was under way.
    states = [Path(place.state_dir) for place in places] + [Path(context.place.shared_dir)]
    found = [path for path in dict.fromkeys([*views, records, *states]) if path.is_dir() and not path.is_symlink()]
    return PurgePlan(tuple(found), refs, tuple(what_stays(context)))


def purge(context: Context, plan: PurgePlan) -> None:
    """Remove what was planned; refs that have moved meanwhile stay."""
    with files.locked(Path(context.place.shared_dir) / LOCK_NAME, wait=LOCK_WAIT_S, doing="purging agent-sync"):
        CloneTransport(context.git, context.settings.git.remote).swap(plan.refs)
        _forget_exclusion(Path(context.place.common_dir) / "info" / "exclude")
        for path in plan.directories:
            shutil.rmtree(path)


def what_stays(context: Context) -> Iterator[str]:
    """Name what is left where others, or other clones, may need it."""
    home, remote = atlas_home(context.environment), context.settings.git.remote
    if context.git.remote(remote):
        yield f"refs below {OURS} on {remote}: others use them; `agent-sync cleanup --refs` prunes those that ended"
    if any(CloneTransport(context.git, remote).known(RESCUE)):
        yield f"refs below {RESCUE} in this clone: files that were not committed"
    if (home / "keys").is_dir():
        yield f"{home / 'keys'} and the records of other clones below {home / 'workspaces'}"
    if (Path(context.place.root) / GATE_LOG_DIR).is_dir():
        yield f"{GATE_LOG_DIR}/: logs of the gates"
    yield "branches, worktrees, issues, cards and pull requests"


def _places(context: Context) -> tuple[Place, ...]:
    return tuple(place for root in git_branches.worktrees(context.git) if (place := worktree(root)))


def _refuse_held(context: Context, places: tuple[Place, ...]) -> None:
    held = [(claim.issue_number, place.root) for place in places if (claim := context.store_at(place).read())]
    if held:
        issue, root = held[0]
        message = f"Issue #{issue} is held in {root}. Nothing was removed."
        raise WrongState(message, attempted="purging agent-sync", helps=f"cd {root} && agent-sync release")
    begun = [found.record.task_id for place in places if (found := recorder_at(context, place).current())]
    if begun:
        message = f"Task {begun[0]} is in progress here. Nothing was removed."
        raise WrongState(
            message, attempted="purging agent-sync", helps="agent-sync record status, or agent-sync abandon"
        )


def _forget_exclusion(file: Path) -> None:
    """Take the line out that keeps the generated view out of commits."""
    found = files.read_own(file) or b""
    kept = b"".join(line for line in found.splitlines(keepends=True) if line.strip() != f"/{FORGE}/".encode())
    if kept != found:
        files.write_atomic(file, kept, mode=files.REPOSITORY)
