"""Repairs what can be repaired without a question: what `init` writes, but for the settings that a person decides."""

from collections.abc import Mapping
from pathlib import Path

from agent_sync.setup.client.plugin import plugin_at
from agent_sync.setup.install import carry_out, record as records
from agent_sync.setup.install.entries import home_elsewhere
from agent_sync.setup.install.plan import Choice, InstallPlan, installation
from agent_sync.setup.install.tree import Tree
from agent_sync.worktree import Place


def repair(place: Place, environment: Mapping[str, str]) -> InstallPlan:
    """Write what is missing or outdated of hooks, pages, rules and ignore lines, and return what was written."""
    tree, shared = Tree(Path(place.root)), Path(place.shared_dir)
    record = records.load(shared)
    is_plugins = plugin_at(place, environment) is not None
    choice = Choice(with_hooks=not is_plugins, with_settings=False, atlas_home=home_elsewhere(environment))
    plan = installation(tree.read, record, str, choice)
    if plan.changes:
        carry_out.install(tree, shared, record, plan)
    return plan
