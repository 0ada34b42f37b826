"""Finds the base that gate definitions are compared with: a branch that the work at hand cannot choose."""

import re
from dataclasses import dataclass

from agent_sync.gates.config.model import CONFIG_DIR
from agent_sync.gates.config.yaml12 import BadYaml, load
from agent_sync.gates.plan.repo import Repo

REMOTE = "refs/remotes/"
LOCAL = "refs/heads/"
_DEFAULTS = ("HEAD", "main", "master")
_NAMED = re.compile(r"^base_branch:[ \t]+[\"']?([^\s\"'#]+)", re.MULTILINE)
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


def find_gate_base(repo: Repo) -> GateBase | None:
    """Return the base: the remote's default branch, or the one that this branch's own configuration names."""
    default = _default(repo)
    if default is None:
        return None
    named = _named(repo.git.ask("cat-file", "blob", f"{default.commit}:{repo.prefix}{CONFIG_DIR}/config.yml").stdout)
    if not named or named == default.name:
        return default
    remote = default.name.partition("/")[0] if default.ref.startswith(REMOTE) else "origin"
    wanted = (f"{REMOTE}{named}", f"{REMOTE}{remote}/{named}", f"{LOCAL}{named}")
    found = _refs(repo, *wanted)
    return next((GateBase(ref, found[ref][0]) for ref in wanted if ref in found), default)


def moved(repo: Repo, ref: str) -> str:
    """Say so where the last change of a base came from this clone and not from the remote; nothing otherwise."""
    name = ref.removeprefix(REMOTE).removeprefix(LOCAL)
    if ref.startswith(LOCAL):
        return _ahead(repo, name)
    last = repo.git.ask("reflog", "show", "-n", "1", "--format=:%gs", ref).stdout.strip()
    if not last or last[1:].startswith(_BY_THE_REMOTE):
        return ""
    return f"the base {name} was moved in this clone, not by a fetch or a push"


def moved_name(repo: Repo, name: str) -> str:
    """Say the same of a base that is known by the name it was configured with."""
    found = _refs(repo, f"{REMOTE}{name}", f"{LOCAL}{name}")
    return moved(repo, next(iter(found))) if found else ""


def _ahead(repo: Repo, name: str) -> str:
    here, there = (repo.commit(f"{prefix}{name}") for prefix in (LOCAL, f"{REMOTE}origin/"))
    if not here or not there or repo.is_ancestor(here, there):
        return ""
    return f"the base {name} was moved in this clone: it has commits that origin/{name} does not have"


def _default(repo: Repo) -> GateBase | None:
    """Return the default branch of the remote, origin before any other; without one, the usual local names."""
    found = _refs(repo, *(f"{REMOTE}*/{name}" for name in _DEFAULTS), *(f"{LOCAL}{name}" for name in _DEFAULTS[1:]))
    order = [f"{REMOTE}origin/{name}" for name in _DEFAULTS]
    order += sorted(
        (ref for ref in found if ref.startswith(REMOTE) and ref not in order),
        key=lambda ref: _DEFAULTS.index(ref.rpartition("/")[2]),
    )
    order += [f"{LOCAL}{name}" for name in _DEFAULTS[1:]]
    for ref in order:
        if ref in found:
            commit, target = found[ref]
            return GateBase(target or ref, commit)
    return None


def _refs(repo: Repo, *patterns: str) -> dict[str, tuple[str, str]]:
    """Return branches by their full names: the commit of each, and which other branch it stands for."""
    listed = repo.git.ask("for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)", *patterns).stdout
    rows = (line.split("\0") for line in listed.splitlines())
    return {ref: (commit, target) for ref, commit, target in rows}


def _named(config: str) -> str:
    """Return the base that a configuration names; the usual spelling is found without reading all of it."""
    found = _NAMED.findall(config)
    if len(found) == 1 or "base_branch" not in config:
        return found[0] if found else ""
    try:
        node = load(config)
    except BadYaml:
        return ""
    named = node.value.get("base_branch") if isinstance(node.value, dict) else None
    return named.value if named is not None and isinstance(named.value, str) else ""
