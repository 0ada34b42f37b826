import os

import pytest

from agent_sync.errors import BadInput
from agent_sync.gates.plan.changes import RunMode, WantedChanges, find_base, find_changes
from agent_sync.gates.plan.repo import Repo
from agent_sync.gates.plan.snapshot import take


def changes(project, wanted=None, base="main", **environment):
    repo = project.repo(**environment)
    wanted = wanted or WantedChanges()
    found = find_base(repo, base, wanted, environment)
    snapshot = take(repo, project.root / "gauntlet_logs")
    return find_changes(repo, snapshot, wanted, base=found, environment=environment)


def test_full_run_sees_commits_and_the_working_directory(project):
    """Committed, uncommitted, untracked and deleted files of the branch all count."""
    project.write({"src/committed": "1"})
    project.commit()
    project.write({"src/new": "1", "README": "changed"})
    (project.root / ".gitignore").unlink()
    found = changes(project)
    assert found.mode is RunMode.FULL
    assert set(found.files) == {"src/committed", "src/new", "README", ".gitignore"}


def test_work_of_others_on_the_base_does_not_count(project):
    """Only what this branch did is compared, not what came to the base since."""
    project.write({"mine": "1"})
    project.commit()
    project.git("checkout", "-q", "main")
    project.write({"theirs": "1"})
    project.commit()
    project.git("checkout", "-q", "work")
    assert changes(project).files == ("mine",)


def test_uncommitted(project):
    """With -u only what is not committed counts."""
    project.write({"a": "1"})
    project.commit()
    project.write({"b": "1"})
    assert changes(project, WantedChanges(uncommitted=True)).files == ("b",)


def test_one_commit(project):
    """With -c exactly that commit counts, the first one included."""
    project.write({"a": "1"})
    sha = project.commit()
    project.write({"b": "1"})
    project.commit()
    assert changes(project, WantedChanges(commit=sha)).files == ("a",)
    first = project.git("rev-list", "--max-parents=0", "HEAD")
    assert changes(project, WantedChanges(commit=first)).files == ()
    with pytest.raises(BadInput, match="no commit"):
        changes(project, WantedChanges(commit="--upload-pack=x"))


def test_ci(project):
    """In CI the commits count and the base comes from the workflow, if the caller does not say otherwise."""
    project.write({"a": "1"})
    sha = project.commit()
    project.write({"b": "1"})
    found = changes(project, base="nowhere", CI="true", GITHUB_BASE_REF="main", GITHUB_SHA=sha)
    assert (found.mode, found.files, found.base.name) == (RunMode.CI, ("a",), "main")


def test_paths_are_not_quoted(project):
    """Spaces, quotes, newlines, non-ASCII and bytes that are no text survive."""
    odd = ["a b", 'q"', "l\nf", "é/ü", "tab\t", os.fsdecode(b"\xff")]
    project.write(dict.fromkeys(odd, "1"))
    assert set(changes(project).files) == set(odd)


def test_missing_base_falls_back(project):
    """A base that is not here is replaced by the next best, which is said; one that was asked for is an error."""
    found = changes(project, base="origin/none")
    assert (found.base.name, found.base.note) == (
        "main",
        "The base branch origin/none does not exist here; main was used instead.",
    )
    with pytest.raises(BadInput, match="no branch or commit 'none'"):
        changes(project, WantedChanges(base="none"))


def test_no_base_at_all(project):
    """Where nothing can be compared with, everything counts as changed."""
    project.git("branch", "-q", "-m", "main", "x")
    found = changes(project, base="main")
    assert "README" in found.files
    assert "everything counts" in found.base.note


def test_remote_twin_that_is_ahead_wins(project):
    """A stale local base gives way to the remote's newer one."""
    project.write({"merged": "1"})
    sha = project.commit()
    project.git("update-ref", "refs/remotes/origin/main", sha)
    project.write({"mine": "1"})
    assert changes(project).files == ("mine",)


def test_detached_head(project):
    """A detached HEAD is compared like any other."""
    project.write({"a": "1"})
    project.commit()
    project.git("checkout", "-q", "--detach")
    assert changes(project).files == ("a",)
    assert project.repo().branch() == "HEAD"


def test_unrelated_history(project):
    """Without a common ancestor, as in a shallow clone, the base itself is compared with."""
    tree = project.git("rev-parse", "HEAD^{tree}")
    project.git("update-ref", "refs/heads/main", project.git("commit-tree", "-m", "x", tree))
    project.write({"a": "1"})
    assert changes(project).files == ("a",)


def test_project_below_the_root(project):
    """Paths are those of the project, and other projects in the repository do not count."""
    project.write({"part/a": "1", "b": "1"})
    context = project.context()
    repo = Repo(context.git, context.place, project.root / "part")
    snapshot = take(repo, project.root / "part" / "logs")
    base = find_base(repo, "main", WantedChanges(), {})
    assert find_changes(repo, snapshot, WantedChanges(), base=base, environment={}).files == ("a",)
