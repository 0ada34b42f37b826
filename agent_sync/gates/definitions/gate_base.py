"""Finds the base that gate definitions are compared with: a branch that the work at hand cannot choose."""

import os
import re
from pathlib import Path

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.system import git_history
from agent_sync.system.git import Git
from agent_sync.worktree import GATE_CONFIG

REMOTE = "refs/remotes/"
LOCAL = "refs/heads/"
_DEFAULTS = ("HEAD", "main", "master")
_NAMED = pattern(r"^base_branch:[ \t]+[\"']?([^\s\"'#]+)", re.MULTILINE)
# How git itself notes that a copy of a remote's branch followed the remote.
_BY_THE_REMOTE = ("fetch", "pull", "clone", "update by push", "remote: renamed")


@dataclass(frozen=True)
class GateBase:
    """A branch by its full name, and the commit it is at."""

    ref: str
    commit: str

    @property
    def name(self) -> str:
        """The branch as people write it."""
        return self.ref.removeprefix(REMOTE).removeprefix(LOCAL)


def default_base(git: Git) -> GateBase | None:
    """Return the default branch of the remote, origin before any other; without one, the usual local names."""
    patterns = (*(f"{REMOTE}*/{name}" for name in _DEFAULTS), *(f"{LOCAL}{name}" for name in _DEFAULTS[1:]))
    found = git_history.refs(git, *patterns)
    order = [f"{REMOTE}origin/{name}" for name in _DEFAULTS]
    order += sorted(
        (ref for ref in found if ref.startswith(REMOTE) and ref not in order),
        key=lambda ref: _DEFAULTS.index(ref.rpartition("/")[2]),
    )
    order += [f"{LOCAL}{name}" for name in _DEFAULTS[1:]]
    return next((GateBase(found[ref].symref or ref, found[ref].commit) for ref in order if ref in found), None)


def base_named(git: Git, default: GateBase, config: str) -> GateBase:
    """Return the branch that the configuration of the default branch names as base; the default where it names none."""
    named = _base_named_in(config)
    if not named or named == default.name:
        return default
    remote = default.name.partition("/")[0] if default.ref.startswith(REMOTE) else "origin"
    wanted = (f"{REMOTE}{named}", f"{REMOTE}{remote}/{named}", f"{LOCAL}{named}")
    found = git_history.refs(git, *wanted)
    return next((GateBase(ref, found[ref].commit) for ref in wanted if ref in found), default)


def possible_roots(start: str, top: Path) -> list[Path]:
    """Return the directories from `start` up to the top."""
    here = Path(os.path.realpath(start)) if start else top
    inside = here.relative_to(top).parts if top in here.parents else ()
    return [top.joinpath(*inside[:count]) for count in range(len(inside), -1, -1)]


def base_has_gates(git: Git, top: Path, start: str) -> bool:
    """Tell whether the base holds gates for work in `start`, in a worktree that has none there itself."""
    base = default_base(git)
    if base is None:
        return False
    base = base_named(git, base, git_history.file_in(git, base.commit, GATE_CONFIG))
    paths = [(root / GATE_CONFIG).relative_to(top).as_posix() for root in possible_roots(start, top)]
    # Asked at every stop without gates, in words whose answer is remembered.
    return not git_history.names_in(git, base.commit, paths).isdisjoint(paths)


def moved_base(git: Git, ref: str) -> str:
    """Say so where the last change of a base came from this clone and not from the remote; nothing otherwise."""
    name = ref.removeprefix(REMOTE).removeprefix(LOCAL)
    if ref.startswith(LOCAL):
        return _local_moved_base(git, name)
    last = git_history.last_change(git, ref)
    if last is None or last.reason.startswith(_BY_THE_REMOTE):
        return ""
    return f"the base {name} was moved in this clone, not by a fetch or a push"


def moved_base_named(git: Git, name: str) -> str:
    """Say the same of a base that is known by the name it was configured with."""
    found = git_history.refs(git, f"{REMOTE}{name}", f"{LOCAL}{name}")
    return moved_base(git, next(iter(found))) if found else ""


def _local_moved_base(git: Git, name: str) -> str:
    here, there = (git_history.commit_of(git, f"{prefix}{name}") for prefix in (LOCAL, f"{REMOTE}origin/"))
    if not here or not there or git_history.is_ancestor(git, here, there):
        return ""
    return f"the base {name} was moved in this clone: it has commits that origin/{name} does not have"


def _base_named_in(config: str) -> str:
    """Return the base that a configuration names; the usual spelling is found without reading all of it."""
    found = _NAMED.findall(config)
    if len(found) == 1 or "base_branch" not in config:
        return found[0] if found else ""
    from agent_sync.gates.config.document import Document
    from agent_sync.gates.config.yaml_values import BadYaml

    try:
        values = Document(config).values
    except BadYaml:
        return ""
    named = values.get("base_branch") if isinstance(values, dict) else None
    return named if isinstance(named, str) else ""
