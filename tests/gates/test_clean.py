import json
import os
import resource
import subprocess

import pytest
from support.gauntlet import GatedProject, write_files

from agent_sync.errors import BadConfig, DiskTrouble
from agent_sync.gates.memory import state as states
from agent_sync.gates.memory.state import GateState
from agent_sync.gates.plan.repo import Repo
from agent_sync.gates.run.clean import clean
from agent_sync.gates.run.execute import execute_run
from agent_sync.gates.run.logs import MARK, LogDir, stems
from agent_sync.system.git import Git
from agent_sync.system.processes import Processes
from agent_sync.worktree import GATE_STATE, worktree


@pytest.fixture
def logs(repo):
    """A log directory of ours with one failed run."""
    directory = repo / "logs"
    write_files(
        directory,
        {
            ".gitignore": MARK,
            "check_a.1.log": "",
            "review_b_claude@1.1.json": "{}",
            "console.1.log": "",
            ".execution_state": "{}",
        },
    )
    return LogDir(directory)


@pytest.fixture
def git(repo):
    """Ask git as the gate does."""
    place = worktree(str(repo))
    assert place
    return Repo(Git(str(repo), Processes(), os.environ), place, repo)


def tree(directory):
    found = sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())
    return [name for name in found if name != ".gitignore"]


def test_manual_clean_moves_everything(logs, git):
    """Logs and record go to previous/."""
    assert clean(logs, git, keep=3, with_state=True)
    assert tree(logs.path) == [
        "previous/.execution_state",
        "previous/check_a.1.log",
        "previous/console.1.log",
        "previous/review_b_claude@1.1.json",
    ]


def test_no_log_directory(repo, git):
    """Without a directory there is nothing to do."""
    assert not clean(LogDir(repo / "none"), git, keep=3, with_state=True)


def test_no_current_logs(logs, git):
    """Without current logs what was archived stays."""
    clean(logs, git, keep=1, with_state=True)
    before = tree(logs.path)
    assert not clean(logs, git, keep=1, with_state=True)
    assert tree(logs.path) == before


def test_rotation(repo, git):
    """As many archives are kept as the project says, the newest as previous/."""
    logs = LogDir(repo / "logs")
    logs.make(git)
    for number in range(1, 6):
        write_files(logs.path, {f"check_a.{number}.log": ""})
        clean(logs, git, keep=3, with_state=False)
    assert tree(logs.path) == ["previous.1/check_a.4.log", "previous.2/check_a.3.log", "previous/check_a.5.log"]


def test_nothing_is_kept_with_zero(logs, git):
    """With max_previous_logs 0 logs are deleted."""
    assert clean(logs, git, keep=0, with_state=True)
    assert tree(logs.path) == []


def test_foreign_files_stay(logs, git):
    """What no run wrote is not moved."""
    write_files(logs.path, {"notes.txt": "mine", "sub/x.log": "mine", ".debug.log": "x"})
    clean(logs, git, keep=3, with_state=True)
    assert {"notes.txt", "sub/x.log", ".debug.log"} <= set(tree(logs.path))


@pytest.mark.parametrize("left", [[], [".gitignore.999999999.tmp"]], ids=["nothing", "half a mark"])
def test_directory_without_its_mark_gets_it(repo, git, left):
    """A run that was ended while it made the directory is followed by one that goes on."""
    logs = LogDir(repo / "new")
    write_files(logs.path, dict.fromkeys(left, ""))
    logs.path.mkdir(exist_ok=True)
    logs.make(git)
    assert [path.name for path in logs.path.iterdir()] == [".gitignore"]


@pytest.mark.parametrize("name", ["logs", "logs/deeper"])
def test_nothing_is_written_behind_a_link(repo, git, tmp_path, name):
    """A log directory that a checkout has made a link is refused before anything is written where it leads."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (repo / "logs").symlink_to(elsewhere)
    with pytest.raises(BadConfig, match="lies behind one"):
        LogDir(repo / name).make(git)
    assert list(elsewhere.iterdir()) == []


def test_temporary_in_a_foreign_directory_stays(repo, git):
    """In a directory that is not ours nothing is swept, whatever it is called."""
    write_files(repo / "mine", {"notes.txt": "mine", ".gitignore.999999999.tmp": "mine"})
    with pytest.raises(BadConfig, match=r"has no \.gitignore of ours"):
        LogDir(repo / "mine").make(git)
    assert sorted(path.name for path in (repo / "mine").iterdir()) == [".gitignore.999999999.tmp", "notes.txt"]


def test_full_disk_leaves_no_half_mark(repo, git):
    """A disk that takes no mark leaves none: the directory is made when there is room again."""
    logs = LogDir(repo / "new")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(DiskTrouble):
            logs.make(git)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(logs.path.iterdir()) == []


def mark_of_0_1_0(logs):
    (logs.path / ".gitignore").write_text("*\n")


def no_mark(logs):
    (logs.path / ".gitignore").unlink()


def somebody_elses_mark(logs):
    (logs.path / ".gitignore").write_text("# made by another tool\n*\n")


def tracked(logs):
    subprocess.run(["git", "add", "-f", "check_a.1.log"], cwd=logs.path, check=True)


def linked(logs):
    elsewhere = logs.path.rename(logs.path.with_name("elsewhere"))
    logs.path.symlink_to(elsewhere)


FOREIGN = {
    "no mark": (no_mark, "it has no .gitignore of ours"),
    "another's mark": (somebody_elses_mark, "it has no .gitignore of ours"),
    "tracked": (tracked, "git tracks files in it"),
    "linked": (linked, "it is a symbolic link, or lies behind one"),
}


@pytest.mark.parametrize(("spoil", "reason"), FOREIGN.values(), ids=FOREIGN)
def test_directory_of_somebody_else_is_left_alone(logs, git, spoil, reason):
    """Nothing is moved or deleted in a directory that does not carry our mark, is linked, or is tracked."""
    spoil(logs)
    before = tree(logs.path)
    for keep in (0, 1, 3):
        with pytest.raises(BadConfig, match=reason):
            clean(logs, git, keep=keep, with_state=True)
    assert tree(logs.path) == before


def test_mark_of_the_first_version(logs, git):
    """What 0.1.0 wrote into its log directory still counts as ours."""
    mark_of_0_1_0(logs)
    assert clean(logs, git, keep=3, with_state=True)


ADOPTED = {
    "empty": ({}, True),
    "runs of agent-gauntlet": (
        {"console.1.log": "", "check_x.1.log": "", "previous/a.log": "", ".debug.log": ""},
        True,
    ),
    "something else": ({"console.1.log": "", "thesis.txt": "mine"}, False),
    "only archives": ({"previous/thesis.txt": "mine"}, False),
}


@pytest.mark.parametrize(("files", "is_ours"), ADOPTED.values(), ids=ADOPTED)
def test_directory_without_a_mark(repo, git, files, is_ours):
    """A run takes over a directory that is empty or holds only what runs leave, and refuses any other."""
    logs = LogDir(repo / "logs")
    logs.path.mkdir()
    write_files(logs.path, files)
    if is_ours:
        logs.make(git)
        assert clean(logs, git, keep=3, with_state=True) == ("console.1.log" in files)
    else:
        with pytest.raises(BadConfig, match="not one that agent-sync made"):
            logs.make(git)
        assert sorted(tree(logs.path)) == sorted(files)


def test_numbering(tmp_path):
    """The next number is one more than any file carries."""
    logs = LogDir(tmp_path)
    assert logs.next_run() == 1
    write_files(tmp_path, {"check_a.2.log": "", "review_b_x@1.7.json": "", "console.3.log": "", "odd.log": ""})
    assert logs.next_run() == 8


def test_file_names():
    """Odd characters are replaced, and every job has a name of its own, none too long."""
    found = stems(["check:a/b:c", "check:a_b:c", "check:" + "x" * 500 + ":c"])
    assert found["check:a/b:c"] == "check_a_b_c"
    assert len(set(found.values())) == 3
    assert max(map(len, found.values())) < 200


class TestContext:
    """When a session is over."""

    @pytest.fixture
    def project(self, repo):
        """A failed session on the branch `work`."""
        project = GatedProject(repo, ok="command: exit 1\n")
        project.write({"src/a": "1"})
        project.commit()
        execute_run(project.context(), project.root)
        return project

    def _archived(self, project):
        return (project.root / "gauntlet_logs" / "previous").exists()

    def test_branch_changed_triggers_auto_clean(self, project):
        """On another branch an old session is over, which is said."""
        project.git("checkout", "-q", "-b", "other")
        result = execute_run(project.context(), project.root)
        assert self._archived(project)
        assert "the branch changed from work to other" in result.notes[0]

    def test_commit_merged_triggers_auto_clean(self, project):
        """Work that reached the base is over."""
        project.git("branch", "-f", "main", "work")
        result = execute_run(project.context(), project.root)
        assert self._archived(project)
        assert "was merged into main" in result.notes[0]

    def test_no_auto_clean_when_context_unchanged(self, project):
        """Otherwise the session goes on with its second run."""
        execute_run(project.context(), project.root)
        assert not self._archived(project)
        assert "console.2.log" in project.logs

    def test_no_auto_clean_when_no_state_file(self, project):
        """Without a record nothing is moved."""
        (project.root / "gauntlet_logs" / ".execution_state").unlink()
        project.git("checkout", "-q", "-b", "other")
        execute_run(project.context(), project.root)
        assert not self._archived(project)

    def test_branch_without_commits_of_its_own(self, repo):
        """HEAD in the base from the start does not end a session."""
        project = GatedProject(repo, ok="command: exit 1\n")
        project.write({"src/a": "1"})
        execute_run(project.context(), project.root)
        execute_run(project.context(), project.root)
        assert "console.2.log" in project.logs

    def test_record_of_another_tool(self, project):
        """A record that does not say whether its commit was in the base follows the plain rule."""
        file = project.root / "gauntlet_logs" / ".execution_state"
        values = json.loads(file.read_text())
        plain = {key: values[key] for key in ("last_run_completed_at", "branch")}
        file.write_text(json.dumps(plain | {"commit": project.git("rev-parse", "main")}))
        execute_run(project.context(), project.root)
        assert self._archived(project)


class TestState:
    """The record on disk."""

    @pytest.mark.parametrize("text", ["", "nonsense", "[]", "{", "null", '{"branch": 3, "failed_runs": "x"}'])
    def test_unreadable_record(self, tmp_path, text):
        """A record that cannot be read is as good as none."""
        (tmp_path / GATE_STATE).write_text(text)
        found = states.read(tmp_path)
        assert found in (None, GateState())

    def test_fields_of_others_survive(self, tmp_path):
        """What another tool wrote is written back."""
        (tmp_path / GATE_STATE).write_text('{"branch": "b", "their_field": {"x": 1}}')
        found = states.read(tmp_path)
        assert found
        states.write(tmp_path, found)
        assert json.loads((tmp_path / GATE_STATE).read_text()) == {
            "branch": "b",
            "commit": "",
            "their_field": {"x": 1},
        }
