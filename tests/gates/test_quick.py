"""The quick path is never wrong: it says what the full gate would say, or nothing."""

import json
import os
import shutil
import subprocess
import sys
import time
from typing import ClassVar

import pytest
from support.command import COMMAND, fixture, run
from support.gauntlet import GatedProject, write_files

from agent_sync.events.exchange import parse
from agent_sync.gates.answer import gate
from agent_sync.quiet import gate as quick
from agent_sync.task.decision.facts import Trigger

HEAVY = {"json", "re", "logging", "subprocess", "dataclasses", "typing", "pathlib", "click", "pydantic", "ruamel"}


@pytest.fixture(scope="module")
def made():
    """Keep what is made once for all who ask."""
    return {}


@pytest.fixture
def working(made, tmp_path_factory, monkeypatch):
    """A project with work that has passed, so that the interval holds: it is put back as it was for each test."""
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    if not made:
        here = tmp_path_factory.mktemp("working")
        subprocess.run(["git", "init", "-q", "-b", "main", str(here)], check=True)
        project = GatedProject(here, ok="command: 'true'\n")
        project.write({"src/a": "1"})
        full(project)
        made |= {"project": project, "kept": here.rename(here.with_name(f"{here.name}-kept"))}
    project = made["project"]
    shutil.rmtree(project.root, ignore_errors=True)
    shutil.copytree(made["kept"], project.root, symlinks=True)
    return project


def event(project, **fields):
    return json.dumps(json.loads(fixture("Stop", project.root)) | fields).encode()


def full(project, **fields):
    return gate(project.context(), parse(Trigger.STOP, event(project, **fields)), deadline=60).line()


def test_interval(working):
    """After a full answer the same is said at once, with the time that remains."""
    assert quick.line(event(working)) is None
    slow = json.loads(full(working))
    fast = json.loads(quick.line(event(working)))
    assert (slow["status"], fast["status"]) == ("interval_not_elapsed", "interval_not_elapsed")
    assert slow["message"].split(";")[0] == fast["message"].split(";")[0]


CHANGES = {
    "configuration": lambda project: write_files(project.root, {".gauntlet/config.yml": "entry_points: []\n"}),
    "record": lambda project: (project.root / "gauntlet_logs" / ".execution_state").unlink(),
    "lock": lambda project: write_files(project.root, {"gauntlet_logs/.gauntlet-run.lock": "1"}),
    "unresolved log": lambda project: write_files(project.root, {"gauntlet_logs/check_x.2.log": ""}),
    "settings": lambda project: write_files(project.root, {".agent-sync.toml": "[gate]\nverify_active = true\n"}),
    "user's file": lambda _: write_files_at_home(),
    "environment": lambda _: os.environ.update(GAUNTLET_STOP_HOOK_INTERVAL_MINUTES="0"),
    "stamp": lambda project: write_files(project.root, {".git/agentsync/gauntlet-quick": "x"}),
}


def write_files_at_home():
    from pathlib import Path

    write_files(Path(os.environ["HOME"]), {".config/agent-gauntlet/config.yml": "stop_hook: {run_interval_minutes: 0}"})


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_means_the_full_gate(working, change, monkeypatch):
    """Whatever the answer depends on, its change makes the quick path step back."""
    monkeypatch.setenv("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES", "")
    full(working)
    assert quick.line(event(working))
    change(working)
    assert quick.line(event(working)) is None


def test_due(working, monkeypatch):
    """When the interval is over the gates run."""
    full(working)
    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    assert quick.line(event(working)) is None


ALIKE = {
    "active": {"stop_hook_active": True},
    "active, said in another order": {"a": {"b": ['\\"{']}, "stop_hook_active": True},
}


@pytest.mark.parametrize("fields", ALIKE.values(), ids=ALIKE)
def test_says_what_the_gate_says(working, fields):
    """Quick answers are the full ones, byte for byte."""
    found = quick.line(event(working, **fields))
    assert found == full(working, **fields)


def test_no_config(repo):
    """Without gates, and without a repository, the answer is the gate's own."""
    raw = json.dumps({"cwd": str(repo), "stop_hook_active": False}).encode()
    assert json.loads(quick.line(raw))["status"] == "no_config"
    assert quick.line(raw).encode() == run("gauntlet", "stop-hook", cwd=repo, stdin=raw + b" \n").stdout.encode()


def test_nested(working, monkeypatch):
    """Inside a review the answer is the gate's own."""
    monkeypatch.setenv("AGENT_SYNC_NESTED", "1")
    assert quick.line(b"") == full(working)


DOUBT = {
    "no object": b"",
    "cut off": b'{"cwd": "/x", "stop_hook_active": tr',
    "twice": b'{"cwd": "/x", "stop_hook_active": true, "stop_hook_active": false}',
    "below": b'{"cwd": "/x", "tool": {"stop_hook_active": true}}',
    "odd value": b'{"cwd": "/x", "stop_hook_active": "true"}',
    "tasks": b'{"cwd": "/x", "stop_hook_active": true, "background_tasks": [{"type": "subagent"}]}',
}


@pytest.mark.parametrize("raw", DOUBT.values(), ids=DOUBT)
def test_doubt_means_the_full_gate(raw):
    """What only a JSON parser could tell is left to one."""
    assert quick.line(raw) is None


def test_verifying_is_left_to_the_gate(working, monkeypatch):
    """Where the stop after a block is to be verified the flag alone answers nothing."""
    working.write({".agent-sync.toml": "[gate]\nverify_active = true\n"})
    assert quick.line(event(working, stop_hook_active=True)) is None
    (working.root / ".agent-sync.toml").unlink()
    monkeypatch.setenv("AGENT_SYNC_GATE_VERIFY_ACTIVE", "true")
    assert quick.line(event(working, stop_hook_active=True)) is None


def test_nothing_heavy_is_loaded(working):
    """A quick answer loads neither YAML nor JSON nor anything else that takes time."""
    full(working)
    assert quick.line(event(working))
    done = subprocess.run(
        [sys.executable, "-X", "importtime", COMMAND, "gauntlet", "stop-hook"],
        input=event(working),
        capture_output=True,
        cwd=working.root,
        check=True,
    )
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    base = subprocess.run([sys.executable, "-X", "importtime", "-c", "pass"], capture_output=True, check=True)
    at_start = {line.rpartition(b"|")[2].strip().decode() for line in base.stderr.splitlines()}
    assert not (loaded - at_start) & HEAVY
    assert json.loads(done.stdout)["status"] == "interval_not_elapsed"


class TestUnchanged:
    """Work that has passed and still lies there."""

    @pytest.fixture
    def passed(self, working):
        """A project whose interval is over and whose pass was found again."""
        file = working.root / "gauntlet_logs" / ".execution_state"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"last_run_completed_at": "2020-01-01T00:00:00Z"}))
        past = time.time() - 10
        os.utime(working.root / "src" / "a", (past, past))
        # The change time cannot be set back; the stamp is left once it is a moment old.
        deadline = time.monotonic() + 10
        while quick.line(event(working)) is None and time.monotonic() < deadline:
            self.said = full(working)
            time.sleep(0.05)
        return working

    def test_says_what_the_gate_says(self, passed):
        """The answer is the full one, byte for byte."""
        assert quick.line(event(passed)) == self.said
        assert json.loads(self.said)["status"] == "passed"

    CHANGES: ClassVar = {
        "edited": lambda project: project.write({"src/a": "2"}),
        "added": lambda project: project.write({"new": "1"}),
        "deleted": lambda project: (project.root / "README").unlink(),
        "staged": lambda project: project.git("add", "src/a"),
        "committed": lambda project: project.commit(),
        "definition": lambda project: project.write({".gauntlet/checks/ok.yml": "command: exit 1\n"}),
        "other branch": lambda project: project.git("checkout", "-q", "-b", "another"),
        "base moved": lambda project: project.git(
            "branch", "-f", "main", project.git("commit-tree", "-m", "x", "main^{tree}")
        ),
        "hidden": lambda project: project.git("update-index", "--assume-unchanged", "README"),
        "lock": lambda project: project.write({"gauntlet_logs/.gauntlet-run.lock": "1"}),
        "killed run": lambda project: project.write({"gauntlet_logs/check_src_ok.1.log": ""}),
    }

    @pytest.mark.parametrize("name", CHANGES)
    def test_any_change_means_the_full_gate(self, passed, name):
        """Whatever a pass depends on, its change makes the quick path step back."""
        assert quick.line(event(passed))
        self.CHANGES[name](passed)
        assert quick.line(event(passed)) is None

    def test_ignored_definitions_count(self, passed):
        """Gate definitions that git ignores are watched too."""
        assert quick.line(event(passed))
        passed.write({".gauntlet/ignored": "x"})
        assert quick.line(event(passed)) is None

    def test_hidden_files_leave_no_stamp(self, passed):
        """Where git was told not to look, only the full gate does."""
        passed.git("update-index", "--assume-unchanged", "README")
        time.sleep(0.1)
        full(passed)
        full(passed)
        assert quick.line(event(passed)) is None

    def test_misleading_variables(self, passed, monkeypatch):
        """In the middle of a git hook of somebody else the quick path steps back."""
        monkeypatch.setenv("GIT_DIR", "/elsewhere")
        assert quick.line(event(passed)) is None


class TestNoChanges:
    """Nothing that gates could look at."""

    @pytest.fixture
    def idle(self, project, monkeypatch):
        """A project in which nothing has changed, as one stop has found."""
        for name in ("CI", "GITHUB_ACTIONS"):
            monkeypatch.delenv(name, raising=False)
        self.said = full(project)
        return project

    def test_says_what_the_gate_says(self, idle):
        """The second stop is answered at once, byte for byte as the first."""
        assert quick.line(event(idle)) == self.said == full(idle)
        assert json.loads(self.said)["status"] == "no_changes"

    CHANGES: ClassVar = {
        name: TestUnchanged.CHANGES[name]
        for name in ("added", "deleted", "definition", "other branch", "base moved", "hidden", "lock", "killed run")
    }

    @pytest.mark.parametrize("name", CHANGES)
    def test_any_change_means_the_full_gate(self, idle, name):
        """Whatever it depends on that there is nothing to do, its change makes the quick path step back."""
        assert quick.line(event(idle))
        self.CHANGES[name](idle)
        assert quick.line(event(idle)) is None

    def test_odd_name_of_the_base_is_left_to_the_gate(self, idle):
        """A name that JSON would escape is not said by the quick path."""
        idle.git("branch", 'we"ird')
        config = idle.root / ".gauntlet" / "config.yml"
        config.write_text(config.read_text().replace("base_branch: main", "base_branch: 'we\"ird'"))
        idle.git("commit", "-qam", "Rename")
        idle.git("branch", "-f", 'we"ird', "HEAD")
        assert json.loads(full(idle))["message"] == 'Nothing changed compared with we"ird.'
        assert quick.line(event(idle)) is None
