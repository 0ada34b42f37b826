"""Finds out everything a run depends on before its first gate starts."""

from dataclasses import field, replace

from agent_sync.context import Context
from agent_sync.gates.config.model import GateProject, LoadedProject
from agent_sync.gates.config.stop_settings import is_ci
from agent_sync.gates.definitions.gate_base import moved_base_named
from agent_sync.gates.definitions.which_definitions import GateDefinitions
from agent_sync.gates.memory import state as states
from agent_sync.gates.memory.passes import pass_key
from agent_sync.gates.memory.state import GateState
from agent_sync.gates.plan import snapshot as snapshots
from agent_sync.gates.plan.changes import (
    Base,
    Changes,
    RunMode,
    WantedChanges,
    find_base,
    find_changes,
)
from agent_sync.gates.plan.plan import GatePlan, Scope, plan
from agent_sync.gates.plan.repo import Repo
from agent_sync.gates.plan.snapshot import Snapshot
from agent_sync.gates.run import clean
from agent_sync.gates.run.logs import LogDir
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import git_history

SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"


@dataclass(frozen=True)
class StopAttempt:
    """A stop that asks for a run: whose it is, and which turn it would end."""

    session: str = ""
    turn: str = ""
    # Whether it belongs to the turn of that name for certain: not every client names its prompts.
    is_known_turn: bool = False

    def continues(self, turn: str) -> bool:
        """Tell whether an earlier stop of this turn was sent back."""
        return self.is_known_turn and self.turn == turn


@dataclass(frozen=True)
class RunOptions:
    """What a caller asks of a run."""

    wanted: WantedChanges = field(default_factory=WantedChanges)
    scope: Scope = field(default_factory=Scope)
    deadline: float | None = None
    again: bool = False
    # None where somebody asked for the run: it is not limited and uses up no retry.
    attempt: StopAttempt | None = None
    # The session in which a command was typed: its next stop need not repeat a failure.
    session: str = ""

    @property
    def is_full(self) -> bool:
        """Whether the run covers all gates of all the work, so that its pass is a pass of the work."""
        everything = Scope()
        is_whole = not self.wanted.commit and not self.wanted.uncommitted
        return is_whole and not self.scope.gate and self.scope.kinds == everything.kinds


def session_of(context: Context) -> str:
    """Return the session that a command was typed in, as the client names it; nothing at a terminal."""
    return context.environment.get(SESSION_VARIABLE, "")


@dataclass(frozen=True)
class Prepared:
    """The situation a run starts from."""

    project: GateProject
    repo: Repo
    logs: LogDir
    state: GateState
    snapshot: Snapshot
    changes: Changes
    plan: GatePlan
    key: str
    is_rerun: bool
    failed_runs: int
    notes: tuple[str, ...]
    definitions: tuple[str, ...]
    remarks: tuple[str, ...]


def prepare(
    context: Context, repo: Repo, loaded: LoadedProject, options: RunOptions, *, definitions: GateDefinitions
) -> Prepared:
    """Look at the repository, end a session that is over, and plan the gates."""
    project = loaded.project
    logs = LogDir(project.log_dir)
    base = find_base(repo, project.base_branch, options.wanted, context.environment)
    notes = [str(warning) for warning in loaded.warnings] + ([base.note] if base.note else [])
    state = states.read(logs.path)
    over = clean.context_change(repo, state, base)
    if over:
        clean.clean(logs, repo, keep=project.max_previous_logs, with_state=True)
        notes.append(f"Earlier logs were moved aside, because {over}.")
        state = None
    # Only reviewers read contents; checks have the files themselves.
    snapshot = snapshots.take(repo, logs.path, with_contents=bool(project.reviews))
    changes = find_changes(repo, snapshot, options.wanted, base=base, environment=context.environment)
    is_rerun = has_unresolved(logs, state)
    if is_rerun and state:
        changes = _still_in_question(repo, changes, state, snapshot=snapshot)
    scope = replace(options.scope, is_ci=is_ci(context.environment))
    return Prepared(
        project=project,
        repo=repo,
        logs=logs,
        state=state or GateState(),
        snapshot=snapshot,
        changes=changes,
        plan=plan(project, changes.files, scope, lambda path: (project.root / path).is_dir()),
        key=pass_key(repo, project, snapshot, changes) if options.is_full and snapshot.is_complete else "",
        is_rerun=is_rerun,
        failed_runs=_failed_runs(logs, state, snapshot, project, options.attempt) if is_rerun else 0,
        notes=tuple(notes),
        definitions=definitions.changes,
        remarks=tuple(dict.fromkeys((*definitions.remarks, *_moved_base_remarks(repo, base)))),
    )


def _moved_base_remarks(repo: Repo, base: Base) -> tuple[str, ...]:
    remark = moved_base_named(repo.git, base.name)
    return (remark,) if remark else ()


def has_unresolved(logs: LogDir, state: GateState | None) -> bool:
    """Tell whether a run failed, or was killed, and nothing has passed since."""
    if state and state.has_failed:
        # Even without its logs: deleting them is no way to pass.
        return True
    if not logs.gate_logs():
        return False
    if state is None or not state.status:
        return True
    return state.run is not None and logs.last_run() > state.run


def _failed_runs(
    logs: LogDir, state: GateState | None, snapshot: Snapshot, project: GateProject, attempt: StopAttempt | None
) -> int:
    """Return how many retries are used up; a run that was killed is none of them.

    Changed work starts anew, but not within the turn that is being sent back: or a loop of edits would never end.
    """
    if state is None:
        return 0
    count = logs.last_run() if state.failed_runs is None else state.failed_runs
    if attempt is None or snapshot.tree == state.counted_tree:
        return count
    has_given_up = count > project.max_retries
    return count if attempt.continues(state.failed_turn) and not has_given_up else 0


def _still_in_question(repo: Repo, changes: Changes, state: GateState, *, snapshot: Snapshot) -> Changes:
    """Keep looking at work that failed and was then committed straight to the base."""
    old, new = state.merge_base, changes.merge_base
    is_on_base = changes.mode is RunMode.FULL and new == repo.head()
    if not (
        old and new and old != new and is_on_base and repo.commit(old) and git_history.is_ancestor(repo.git, old, new)
    ):
        return changes
    files = repo.changed(old, snapshot.tree, snapshot.variables)
    return replace(changes, before=old, merge_base=old, files=files)
