import json

import pytest
from support.gauntlet import GatedProject, write_files

from agent_sync.gauntlet import state as states
from agent_sync.gauntlet.clean import clean
from agent_sync.gauntlet.execute import execute_run
from agent_sync.gauntlet.logs import LogDir, stems
from agent_sync.gauntlet.state import State


@pytest.fixture
def logs(tmp_path):
    """A log directory with one failed run."""
    write_files(
        tmp_path, {"check_a.1.log": "", "review_b_claude@1.1.json": "{}", "console.1.log": "", ".execution_state": "{}"}
    )
    return LogDir(tmp_path)


def tree(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def test_manual_clean_moves_everything(logs):
    """Logs and record go to previous/."""
    assert clean(logs, keep=3, with_state=True)
    assert tree(logs.path) == [
        "previous/.execution_state",
        "previous/check_a.1.log",
        "previous/console.1.log",
        "previous/review_b_claude@1.1.json",
    ]


def test_no_log_directory(tmp_path):
    """Without a directory there is nothing to do."""
    assert not clean(LogDir(tmp_path / "none"), keep=3, with_state=True)


def test_no_current_logs(logs):
    """Without current logs what was archived stays."""
    clean(logs, keep=1, with_state=True)
    before = tree(logs.path)
    assert not clean(logs, keep=1, with_state=True)
    assert tree(logs.path) == before


def test_rotation(tmp_path):
    """As many archives are kept as the project says, the newest as previous/."""
    logs = LogDir(tmp_path)
    for number in range(1, 6):
        write_files(tmp_path, {f"check_a.{number}.log": ""})
        clean(logs, keep=3, with_state=False)
    assert tree(tmp_path) == ["previous.1/check_a.4.log", "previous.2/check_a.3.log", "previous/check_a.5.log"]


def test_nothing_is_kept_with_zero(logs):
    """With max_previous_logs 0 logs are deleted."""
    assert clean(logs, keep=0, with_state=True)
    assert tree(logs.path) == []


def test_foreign_files_stay(logs):
    """What no run wrote is not moved."""
    write_files(logs.path, {"notes.txt": "mine", "sub/x.log": "mine", ".debug.log": "x"})
    clean(logs, keep=3, with_state=True)
    assert {"notes.txt", "sub/x.log", ".debug.log"} <= set(tree(logs.path))


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
        execute_run(project.desk(), project.root)
        return project

    def _archived(self, project):
        return (project.root / "gauntlet_logs" / "previous").exists()

    def test_branch_changed_triggers_auto_clean(self, project):
        """On another branch an old session is over, which is said."""
        project.git("checkout", "-q", "-b", "other")
        result = execute_run(project.desk(), project.root)
        assert self._archived(project)
        assert "the branch changed from work to other" in result.notes[0]

    def test_commit_merged_triggers_auto_clean(self, project):
        """Work that reached the base is over."""
        project.git("branch", "-f", "main", "work")
        result = execute_run(project.desk(), project.root)
        assert self._archived(project)
        assert "was merged into main" in result.notes[0]

    def test_no_auto_clean_when_context_unchanged(self, project):
        """Otherwise the session goes on with its second run."""
        execute_run(project.desk(), project.root)
        assert not self._archived(project)
        assert "console.2.log" in project.logs

    def test_no_auto_clean_when_no_state_file(self, project):
        """Without a record nothing is moved."""
        (project.root / "gauntlet_logs" / ".execution_state").unlink()
        project.git("checkout", "-q", "-b", "other")
        execute_run(project.desk(), project.root)
        assert not self._archived(project)

    def test_branch_without_commits_of_its_own(self, repo):
        """HEAD in the base from the start does not end a session."""
        project = GatedProject(repo, ok="command: exit 1\n")
        project.write({"src/a": "1"})
        execute_run(project.desk(), project.root)
        execute_run(project.desk(), project.root)
        assert "console.2.log" in project.logs

    def test_record_of_another_tool(self, project):
        """A record that does not say whether its commit was in the base follows the plain rule."""
        file = project.root / "gauntlet_logs" / ".execution_state"
        values = json.loads(file.read_text())
        plain = {key: values[key] for key in ("last_run_completed_at", "branch")}
        file.write_text(json.dumps(plain | {"commit": project.git("rev-parse", "main")}))
        execute_run(project.desk(), project.root)
        assert self._archived(project)


class TestState:
    """The record on disk."""

    @pytest.mark.parametrize("text", ["", "nonsense", "[]", "{", "null", '{"branch": 3, "failed_runs": "x"}'])
    def test_unreadable_record(self, tmp_path, text):
        """A record that cannot be read is as good as none."""
        (tmp_path / states.NAME).write_text(text)
        found = states.read(tmp_path)
        assert found in (None, State())

    def test_fields_of_others_survive(self, tmp_path):
        """What another tool wrote is written back."""
        (tmp_path / states.NAME).write_text('{"branch": "b", "their_field": {"x": 1}}')
        found = states.read(tmp_path)
        assert found
        states.write(tmp_path, found)
        assert json.loads((tmp_path / states.NAME).read_text()) == {
            "branch": "b",
            "commit": "",
            "their_field": {"x": 1},
        }
