"""Finds what changed: which two trees to compare for the kind of run that is asked for."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from agent_sync.errors import BadInput
from agent_sync.gates.config.stop_settings import is_ci
from agent_sync.gates.plan import snapshot as snapshots
from agent_sync.gates.plan.on_disk import changed_on_disk
from agent_sync.gates.plan.repo import Repo
from agent_sync.gates.plan.snapshot import Snapshot
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import git_history, git_tree


class RunMode(StrEnum):
    """What a run looks at."""

    FULL = "full"
    UNCOMMITTED = "uncommitted"
    COMMIT = "commit"
    CI = "ci"


@dataclass(frozen=True)
class WantedChanges:
    """What the caller asked to look at."""

    base: str = ""
    commit: str = ""
    uncommitted: bool = False
    working: bool = False


@dataclass(frozen=True)
class Base:
    """The branch the work will go into: its name, its commit, and what had to be assumed."""

    name: str
    commit: str | None
    note: str = ""


@dataclass(frozen=True)
class Changes:
    """Two trees and the files that differ between them."""

    mode: RunMode
    base: Base
    before: str
    after: str
    files: tuple[str, ...]
    merge_base: str = ""


def find_base(repo: Repo, configured: str, wanted: WantedChanges, environment: Mapping[str, str]) -> Base:
    """Return the base branch: as asked, as CI says, as configured; where it is missing, the next best."""
    from_ci = environment.get("GITHUB_BASE_REF", "") if is_ci(environment) else ""
    name = wanted.base or from_ci or configured
    commit = _furthest_branch(repo, name)
    if commit:
        return Base(name, commit)
    if wanted.base:
        raise BadInput(
            f"There is no branch or commit {name!r}.", attempted="comparing with the base", helps="git fetch"
        )
    for other in ("origin/HEAD", "origin/main", "origin/master", "main", "master"):
        commit = _branch(repo, other)
        if commit:
            return Base(other, commit, f"The base branch {name} does not exist here; {other} was used instead.")
    return Base(name, None, f"The base branch {name} does not exist here; everything counts as changed.")


def find_changes(
    repo: Repo, snapshot: Snapshot, wanted: WantedChanges, *, base: Base, environment: Mapping[str, str]
) -> Changes:
    """Return what changed for the kind of run that is asked for."""
    mode = _mode(wanted, environment)
    before, after, merge_base = _compared(repo, mode, wanted=wanted, base=base, environment=environment)
    after = after or snapshot.tree
    files = repo.changed(before, after, snapshot.variables)
    return Changes(mode, base, before, after, files, merge_base)


def look_for_changes(
    repo: Repo, log_dir: Path, wanted: WantedChanges, *, base: Base, environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the files that changed, without a snapshot unless git was told not to look at some of them."""
    mode = _mode(wanted, environment)
    before, after, _ = _compared(repo, mode, wanted=wanted, base=base, environment=environment)
    if after:
        return repo.changed(before, after, {})
    if repo.hidden():
        snapshot = snapshots.take(repo, log_dir)
        return repo.changed(before, snapshot.tree, snapshot.variables)
    return changed_on_disk(repo, log_dir, before)


def _mode(wanted: WantedChanges, environment: Mapping[str, str]) -> RunMode:
    if wanted.commit:
        return RunMode.COMMIT
    if wanted.uncommitted:
        return RunMode.UNCOMMITTED
    # A stop is about what lies in the working directory, also in a session that runs in CI.
    return RunMode.CI if is_ci(environment) and not wanted.working else RunMode.FULL


def _compared(
    repo: Repo, mode: RunMode, *, wanted: WantedChanges, base: Base, environment: Mapping[str, str]
) -> tuple[str, str, str]:
    """Return what is compared: the one, the other or nothing for the working directory, and where the work began."""
    match mode:
        case RunMode.COMMIT:
            commit = repo.commit(wanted.commit)
            if commit is None:
                raise BadInput(f"There is no commit {wanted.commit!r}.", helps="git log --oneline")
            return repo.commit(f"{commit}^") or git_tree.empty_tree(repo.git), commit, ""
        case RunMode.UNCOMMITTED:
            return repo.head() or git_tree.empty_tree(repo.git), "", ""
        case RunMode.CI:
            head = repo.commit(environment.get("GITHUB_SHA", "") or "HEAD") or repo.head()
            before = _merge_base_with(repo, base, head) or repo.commit("HEAD^") or git_tree.empty_tree(repo.git)
            return before, head, before
        case RunMode.FULL:
            before = _merge_base_with(repo, base, repo.head()) or git_tree.empty_tree(repo.git)
            return before, "", before


def _merge_base_with(repo: Repo, base: Base, head: str) -> str | None:
    """Return where the work left the base; in a history that was cut off, the base itself is the best guess."""
    if base.commit is None or not head:
        return base.commit
    return git_history.merge_base(repo.git, base.commit, head) or base.commit


def _branch(repo: Repo, name: str) -> str | None:
    """Return the commit of a branch; a tag that goes by the same name, which a fetch can bring, does not count."""
    prefixes = ("refs/remotes/", "refs/heads/") if name.startswith("origin/") else ("refs/heads/", "refs/remotes/")
    spelled = (*(f"{prefix}{name}" for prefix in prefixes), name)
    return next((commit for one in spelled if (commit := repo.commit(one))), None)


def _furthest_branch(repo: Repo, name: str) -> str | None:
    """Return the commit of a branch or of its copy on the remote, whichever is further ahead."""
    here = _branch(repo, name)
    there = None if name.startswith("origin/") else repo.commit(f"refs/remotes/origin/{name}")
    if here and there and here != there:
        return there if git_history.is_ancestor(repo.git, here, there) else here
    return here or there
