import os
import shutil
import stat
import subprocess

import pytest
from support.gauntlet import GatedProject

from agent_sync.gates.plan.snapshot import KEPT, prune, take, take_again


def everything(root):
    """Return every file of the git directory but our own state, with its bytes."""
    return {
        path: path.read_bytes()
        for path in (root / ".git").rglob("*")
        if path.is_file() and "agentsync" not in path.parts
    }


def snap(project):
    return take(project.repo(), project.root / "gauntlet_logs")


def names(project, snapshot):
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "-z", "--name-only", snapshot.tree],
        cwd=project.root,
        env=dict(os.environ) | snapshot.variables,
        capture_output=True,
        check=True,
    ).stdout
    return {os.fsdecode(name) for name in listed.split(b"\0") if name}


def test_clean_tree_is_heads(project):
    """Where nothing differs the snapshot is HEAD's own tree."""
    assert snap(project).tree == project.git("rev-parse", "HEAD^{tree}")


def test_everything_on_disk_is_in_it(project):
    """Staged, unstaged, untracked and deleted files count; ignored ones and the tools' own do not."""
    project.write({"src/a": "1", "src/b": "1", "src/gone": "1"})
    project.commit()
    project.write({"src/a": "2", "src/staged": "1"})
    project.git("add", "src/staged")
    (project.root / "src" / "gone").unlink()
    project.write({"new": "1", "ignored": "1", ".agent-claim.json": "{}", "gauntlet_logs/x.log": "1", ".forge/x": "1"})
    found = names(project, snap(project))
    assert {"src/a", "src/b", "src/staged", "new"} <= found
    assert not found & {"src/gone", "ignored", ".agent-claim.json", "gauntlet_logs/x.log", ".forge/x"}


def test_nothing_of_the_user_is_touched(project):
    """Index, stash, refs and objects are byte for byte what they were."""
    project.write({"src/a": "1"})
    project.commit()
    project.write({"src/a": "2", "untracked": "1"})
    project.git("stash", "push", "-q", "--", "src/a")
    project.write({"src/a": "3", "src/s": "1"})
    project.git("add", "src/s")
    before, status = everything(project.root), project.git("status", "--porcelain")
    assert snap(project).tree == snap(project).tree
    assert everything(project.root) == before
    assert project.git("status", "--porcelain") == status


def test_no_hook_or_monitor_of_the_user_runs(project, tmp_path):
    """Looking is not an event: no git hook hears of it."""
    hook = project.root / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'fired'}\n")
    hook.chmod(0o755)
    project.write({"new": "1"})
    snap(project)
    assert not (tmp_path / "fired").exists()


def test_same_content_is_the_same_tree(project):
    """Committing what was looked at does not change the tree."""
    project.write({"src/a b\n'\"é": "1"})
    dirty = snap(project).tree
    project.commit()
    assert snap(project).tree == dirty == project.git("rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_hidden_edits_are_seen(project, flag):
    """A file that git was told not to look at is looked at all the same."""
    project.write({"src/a": "1"})
    project.commit()
    project.git("update-index", flag, "src/a")
    project.write({"src/a": "changed"})
    assert snap(project).tree != project.git("rev-parse", "HEAD^{tree}")
    assert project.git("ls-files", "-v", "src/a")[0] in "hS"


def test_empty_repository(tmp_path):
    """Before the first commit everything is new."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    project = GatedProject.__new__(GatedProject)
    project.root = tmp_path
    assert names(project, snap(project)) == names(project, snap(project)) == set()
    project.write({"a": "1"})
    assert names(project, snap(project)) == {"a"}


def test_linked_worktree(project, tmp_path):
    """A linked worktree has a picture of its own."""
    project.git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    other = GatedProject.__new__(GatedProject)
    other.root = tmp_path / "other"
    other.write({"only-here": "1"})
    assert "only-here" in names(other, snap(other))
    assert snap(project).tree == project.git("rev-parse", "HEAD^{tree}")


def test_path_with_a_colon(tmp_path):
    """A repository whose path holds the list separator works."""
    root = tmp_path / 'odd: "name"'
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    project = GatedProject(root, ok="command: 'true'\n")
    project.write({"a": "1"})
    assert "a" in names(project, snap(project))


def test_unreadable_file_is_no_complete_picture(project):
    """What cannot be read cannot have passed."""
    if os.geteuid() == 0:
        nested = project.root / "nested"
        subprocess.run(["git", "init", "-q", str(nested)], check=True)
    else:
        project.write({"secret": "1"})
        (project.root / "secret").chmod(0)
    assert not snap(project).is_complete
    if os.geteuid() != 0:
        (project.root / "secret").chmod(stat.S_IRUSR)


def test_dirty_submodule_is_no_complete_picture(project, tmp_path):
    """A submodule with changes of its own is not described by its commit."""
    inner = tmp_path / "inner"
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=inner, check=True)
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    project.commit()
    assert snap(project).is_complete
    project.write({"sub/new": "1"})
    assert not snap(project).is_complete


def test_a_second_look_builds_nothing_while_nothing_changes(project):
    """The earlier picture is returned as it is; an edit, a new file or another index make a new one."""
    project.write({"src/a": "1", "new": "1"})
    first = snap(project)
    logs = project.root / "gauntlet_logs"
    assert take_again(project.repo(), logs, first) is first
    project.write({"ignored": "1"})
    assert take_again(project.repo(), logs, first) is first
    project.git("add", "-f", "ignored")
    second = take_again(project.repo(), logs, first)
    assert "ignored" in names(project, second)
    project.write({"new": "2"})
    assert take_again(project.repo(), logs, second).tree != second.tree


def test_contents_are_stored_only_if_asked_for(project):
    """Without them the tree is the same, and with them a patch can be read."""
    project.write({"new": "what it says\n"})
    bare = snap(project)
    blob = project.git("hash-object", "new")
    has_blob = ["git", "cat-file", "-e", blob]
    found = subprocess.run(has_blob, cwd=project.root, env=dict(os.environ) | bare.variables, check=False)
    assert found.returncode != 0
    whole = take(project.repo(), project.root / "gauntlet_logs", with_contents=True)
    subprocess.run(has_blob, cwd=project.root, env=dict(os.environ) | whole.variables, check=True)
    assert whole.tree == bare.tree


def test_few_snapshots_are_kept(project):
    """Old pictures go away; a missing directory is no harm."""
    for number in range(KEPT + 2):
        project.write({"a": str(number)})
        snap(project)
    repo = project.repo()
    prune(repo)
    home = project.root / ".git" / "agentsync" / "snapshots"
    assert len([path for path in home.iterdir() if path.is_dir()]) <= KEPT
    shutil.rmtree(home)
    prune(repo)
