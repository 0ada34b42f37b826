"""Finds out everything a run depends on before its first gate starts."""

from dataclasses import dataclass, field, replace

from agent_sync.context import Context
from agent_sync.gates.config.model import Loaded, Project
from agent_sync.gates.config.user_config import is_ci
from agent_sync.gates.definitions.gate_base import moved_name
from agent_sync.gates.definitions.which_definitions import GateDefinitions
from agent_sync.gates.memory import state as states
from agent_sync.gates.memory.passes import pass_key
from agent_sync.gates.memory.state import State
from agent_sync.gates.plan import snapshot as snapshots
from agent_sync.gates.plan.changes import Base, Changes, Mode, Wanted, find_base, find_changes
from agent_sync.gates.plan.plan import Plan, Scope, plan
from agent_sync.gates.plan.repo import Repo
from agent_sync.gates.plan.snapshot import Snapshot
from agent_sync.gates.run import clean
from agent_sync.gates.run.logs import LogDir


@dataclass(frozen=True)
class RunOptions:
    """What a caller asks of a run."""

    wanted: Wanted = field(default_factory=Wanted)
    scope: Scope = field(default_factory=Scope)
    deadline: float | None = None
    again: bool = False

    @property
    def is_full(self) -> bool:
        """Whether the run covers all gates of all the work, so that its pass is a pass of the work."""
        everything = Scope()
        is_whole = not self.wanted.commit and not self.wanted.uncommitted
        return is_whole and not self.scope.gate and self.scope.kinds == everything.kinds


@dataclass(frozen=True)
class Prepared:
    """The situation a run starts from."""

    project: Project
    repo: Repo
    logs: LogDir
    state: State
    snapshot: Snapshot
    changes: Changes
    plan: Plan
    key: str
    is_rerun: bool
    failed_runs: int
    notes: tuple[str, ...]
    definitions: tuple[str, ...]
    remarks: tuple[str, ...]


def prepare(context: Context, loaded: Loaded, options: RunOptions, definitions: GateDefinitions) -> Prepared:
    """Look at the repository, end a session that is over, and plan the gates."""
    project = loaded.project
    logs = LogDir(project.log_dir)
    repo = Repo(context.git, context.place, project.root)
    base = find_base(repo, project.base_branch, options.wanted, context.environment)
    notes = [str(warning) for warning in loaded.warnings] + ([base.note] if base.note else [])
    state = states.read(logs.path)
    over = clean.context_change(repo, state, base)
    if over:
        clean.clean(logs, repo, keep=project.max_previous_logs, with_state=True)
        notes.append(f"Earlier logs were moved aside, because {over}.")
        state = None
    snapshot = snapshots.take(repo, logs.path)
    changes = find_changes(repo, snapshot, options.wanted, base=base, environment=context.environment)
    is_rerun = has_unresolved(logs, state)
    if is_rerun and state:
        changes = _still_in_question(repo, changes, state, snapshot=snapshot)
    scope = replace(options.scope, is_ci=is_ci(context.environment))
    return Prepared(
        project=project,
        repo=repo,
        logs=logs,
        state=state or State(),
        snapshot=snapshot,
        changes=changes,
        plan=plan(project, changes.files, scope, lambda path: (project.root / path).is_dir()),
        key=pass_key(repo, project, snapshot, changes) if options.is_full and snapshot.is_complete else "",
        is_rerun=is_rerun,
        failed_runs=_failed_runs(logs, state) if is_rerun else 0,
        notes=tuple(notes),
        definitions=definitions.changes,
        remarks=tuple(dict.fromkeys((*definitions.remarks, *_moved(repo, base)))),
    )


def _moved(repo: Repo, base: Base) -> tuple[str, ...]:
    remark = moved_name(repo, base.name)
    return (remark,) if remark else ()


def look(context: Context, loaded: Loaded, options: RunOptions) -> tuple[Changes, Plan]:
    """Return what changed and what would run, without touching logs or record."""
    project = loaded.project
    repo = Repo(context.git, context.place, project.root)
    base = find_base(repo, project.base_branch, options.wanted, context.environment)
    snapshot = snapshots.take(repo, project.log_dir)
    changes = find_changes(repo, snapshot, options.wanted, base=base, environment=context.environment)
    snapshots.prune(repo)
    scope = replace(options.scope, is_ci=is_ci(context.environment))
    return changes, plan(project, changes.files, scope, lambda path: (project.root / path).is_dir())


def has_unresolved(logs: LogDir, state: State | None) -> bool:
    """Tell whether a run failed, or was killed, and nothing has passed since."""
    if state and state.has_failed:
        # Even without its logs: deleting them is no way to pass.
        return True
    if not logs.gate_logs():
        return False
    if state is None or not state.status:
        return True
    return state.run is not None and logs.last_run() > state.run


def _failed_runs(logs: LogDir, state: State | None) -> int:
    """Return how many runs of this session failed; a run that was killed is none of them."""
    if state is None:
        return 0
    return logs.last_run() if state.failed_runs is None else state.failed_runs


def _still_in_question(repo: Repo, changes: Changes, state: State, *, snapshot: Snapshot) -> Changes:
    """Keep looking at work that failed and was then committed straight to the base."""
    old, new = state.merge_base, changes.merge_base
    is_on_base = changes.mode is Mode.FULL and new == repo.head()
    if not (old and new and old != new and is_on_base and repo.commit(old) and repo.is_ancestor(old, new)):
        return changes
    files = repo.changed(old, snapshot.tree, snapshot.variables)
    return replace(changes, before=old, merge_base=old, files=files)
