"""Repairs what can be repaired without a question: what `init` writes, but for the settings that a person decides."""

from collections.abc import Mapping
from pathlib import Path

from agent_sync.setup.client.levels import levels
from agent_sync.setup.client.plugin import plugin_at
from agent_sync.setup.doctor.registration import check_registered
from agent_sync.setup.doctor.result import Mark
from agent_sync.setup.install import carry_out, record as records
from agent_sync.setup.install.entries import home_elsewhere
from agent_sync.setup.install.plan import CLAUDE_SETTINGS, Choice, InstallPlan, installation
from agent_sync.setup.install.tree import Tree
from agent_sync.worktree import Place


def repair(place: Place, environment: Mapping[str, str]) -> InstallPlan:
    """Write what is missing or outdated of hooks, pages, rules and ignore lines, and return what was written."""
    tree, shared = Tree(Path(place.root)), Path(place.shared_dir)
    choice = Choice(
        with_hooks=not _has_hooks_elsewhere(place, environment),
        with_settings=False,
        atlas_home=home_elsewhere(environment),
    )
    plan = installation(tree.read, records.load(shared), str, choice)
    if plan.changes:
        carry_out.install(tree, shared, plan)
    return plan


def _has_hooks_elsewhere(place: Place, environment: Mapping[str, str]) -> bool:
    """Tell whether the plugin or another settings file than the project's brings the hooks."""
    found = levels(Path(place.root), Path(place.common_dir).parent, environment)
    others = [level for level in found if level.file != CLAUDE_SETTINGS]
    return plugin_at(place, environment) is not None or check_registered(others).mark is Mark.OK
