"""Finds out what a run would look at, without running anything: no tree is built, no log or record is touched."""

from agent_sync.context import Context
from agent_sync.gates.config.model import GateProject
from agent_sync.gates.config.stop_settings import is_ci
from agent_sync.gates.plan.changes import Base, WantedChanges, find_base, look_for_changes
from agent_sync.gates.plan.plan import GatePlan, Scope, plan
from agent_sync.gates.plan.repo import Repo
from agent_sync.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Foreseen:
    """What changed compared with the base, and what would run."""

    base: Base
    files: tuple[str, ...]
    plan: GatePlan


def foresee(context: Context, project: GateProject, wanted: WantedChanges) -> Foreseen:
    """Return what changed and which gates would run on it."""
    repo = Repo(context.git, context.place, project.root)
    base = find_base(repo, project.base_branch, wanted, context.environment)
    files = look_for_changes(repo, project.log_dir, wanted, base=base, environment=context.environment)
    scope = Scope(is_ci=is_ci(context.environment))
    return Foreseen(base, files, plan(project, files, scope, lambda path: (project.root / path).is_dir()))
