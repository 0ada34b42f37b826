"""The stop gate's scenarios; `test_specification.py` lists those of the specification by name."""

import json
import os
import resource
import shutil
import signal
import subprocess
import time
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import pytest
from support.gauntlet import GatedProject, write_files

from agent_sync.events.exchange import parse
from agent_sync.gates import answer as gates
from agent_sync.gates.answer import gate
from agent_sync.gates.plan.changes import WantedChanges
from agent_sync.gates.plan.prepare import RunOptions, session_of
from agent_sync.gates.run.clean import clean
from agent_sync.gates.run.execute import execute_run
from agent_sync.gates.run.lock import alone
from agent_sync.gates.run.logs import LogDir
from agent_sync.task.decision.facts import Trigger
from agent_sync.worktree import GATE_RUN_LOCK as LOCK_NAME

FAILING = "command: echo broken; exit 1\n"


def read(raw):
    return parse(Trigger.STOP, raw)


def stop(project, *, needs_pass=False, verifies=False, deadline=60.0, variables=None, **event):
    values = {"hook_event_name": "Stop", "cwd": str(project.root), "session_id": "s", "prompt_id": "p"} | event
    context = project.context(**(variables or {}))
    raw = json.dumps(values).encode()
    return gate(context, read(raw), deadline=deadline, needs_pass=needs_pass, verifies=verifies)


@pytest.fixture(scope="module")
def made():
    """Keep what is made once for all who ask."""
    return {}


def put_back(made, tmp_path_factory, check):
    """Return a project with one check, as it was when it was made."""
    if check not in made:
        here = tmp_path_factory.mktemp("gated")
        subprocess.run(["git", "init", "-q", "-b", "main", str(here)], check=True)
        made[check] = GatedProject(here, ok=check), here.rename(here.with_name(f"{here.name}-kept"))
    project, kept = made[check]
    shutil.rmtree(project.root, ignore_errors=True)
    shutil.copytree(kept, project.root, symlinks=True)
    return project


@pytest.fixture
def project(made, tmp_path_factory):
    """A project whose only check passes."""
    return put_back(made, tmp_path_factory, "command: 'true'\n")


@pytest.fixture
def failing(made, tmp_path_factory):
    """A project whose only check fails on the work done."""
    project = put_back(made, tmp_path_factory, FAILING)
    project.write({"src/a": "1"})
    return project


@pytest.fixture
def working(project):
    """A project whose only check passes on the work done."""
    project.write({"src/a": "1"})
    return project


def ran(project):
    directory = project.root / "gauntlet_logs"
    return len(list(directory.rglob("console.*.log"))) if directory.exists() else 0


def age_of_last_run(project, minutes):
    file = project.root / "gauntlet_logs" / ".execution_state"
    values = json.loads(file.read_text())
    moment = datetime.now(UTC) - timedelta(minutes=minutes)
    file.write_text(json.dumps(values | {"last_run_completed_at": moment.isoformat().replace("+00:00", "Z")}))


def move_logs_aside(project):
    repo = project.repo()
    clean(LogDir(project.root / "gauntlet_logs"), repo, keep=3, with_state=True)


class TestProtocol:
    """What comes in and goes out."""

    def test_missing_or_invalid_json(self, failing):
        """Input that is no JSON object allows the stop and runs nothing."""
        for raw in (b"", b"nonsense", b"[]", b"null", b'"x"', b"{", b"\xff\xfe", b"[" * 100_000):
            reply = gate(failing.context(), read(raw), deadline=60)
            assert (reply.decision, reply.status, ran(failing)) == ("approve", "invalid_input", 0), raw[:10]
            assert "could not be parsed" in reply.message

    def test_empty_object_is_valid(self, failing):
        """An empty object is an event like any other."""
        assert gate(failing.context(), read(b"{}"), deadline=60).status == "failed"

    @pytest.mark.parametrize(
        "event", [{"cwd": 3}, {"stop_hook_active": "true"}, {"background_tasks": "x"}, {"prompt_id": []}]
    )
    def test_misshapen_fields_are_empty(self, failing, event):
        """A field of the wrong shape is as good as missing."""
        assert stop(failing, **event).status == "failed"

    def test_response_structure(self, failing):
        """Every reply has decision, status and message; a reason only when it blocks; never `continue`."""
        blocked = json.loads(stop(failing).line())
        assert list(blocked) == ["decision", "status", "message", "reason", "stopReason", "systemMessage"]
        assert blocked["reason"] == blocked["stopReason"]
        assert all(isinstance(value, str) and value for value in blocked.values())
        passed = json.loads(stop(failing, stop_hook_active=True).line())
        assert set(passed) == {"decision", "status", "message"}


class TestLoops:
    """No stop is sent back for ever."""

    def test_stop_hook_active_is_true(self, failing):
        """The stop after a block is allowed at once without running the gates."""
        reply = stop(failing, stop_hook_active=True)
        assert (reply.decision, reply.status, ran(failing)) == ("approve", "stop_hook_active", 0)
        assert "prevent a loop" in reply.message

    def test_nested_marker(self, failing):
        """A session that is itself a review runs no gates."""
        for name in ("AGENT_SYNC_NESTED", "GAUNTLET_STOP_HOOK_ACTIVE"):
            assert stop(failing, variables={name: "1"}).status == "stop_hook_active"
        assert ran(failing) == 0

    def test_verify_active(self, failing):
        """With the setting on the stop after a block is verified too, within the retry limit."""
        on = {"AGENT_SYNC_GATE_VERIFY_ACTIVE": "true"}
        found = [stop(failing, stop_hook_active=True, variables=on).status for _ in range(5)]
        assert found == ["failed", "failed", "failed", "retry_limit_exceeded", "retry_limit_exceeded"]

    def test_stop_after_a_block_is_verified(self, failing):
        """Inside `on-stop` a stop after a block is verified while retries remain, whatever is changed meanwhile."""
        found = []
        for number in range(5):
            found.append(stop(failing, stop_hook_active=number > 0, verifies=True))
            failing.write({"src/a": f"try {number}"})
        assert [reply.decision for reply in found[:4]] == ["block"] * 3 + ["approve"]
        assert found[3].status == "retry_limit_exceeded"

    def test_stop_after_a_block_without_names_of_prompts(self, failing):
        """The limit ends the loop also where the client does not name its prompts."""
        found = []
        for number in range(4):
            found.append(stop(failing, stop_hook_active=number > 0, verifies=True, prompt_id=""))
            failing.write({"src/a": f"try {number}"})
        assert [reply.decision for reply in found] == ["block"] * 3 + ["approve"]

    def test_changed_work_of_a_later_prompt_starts_anew(self, failing):
        """A changed tree in another turn has all its retries."""
        for number in range(2):
            stop(failing, stop_hook_active=number > 0, verifies=True)
        failing.write({"src/a": "2"})
        found = [stop(failing, stop_hook_active=n > 0, verifies=True, prompt_id="next") for n in range(4)]
        assert [reply.decision for reply in found] == ["block"] * 3 + ["approve"]

    def test_fixed_work_past_the_limit_passes(self, failing):
        """Past the limit the fixed work is looked at, whoever asks."""
        for _ in range(5):
            stop(failing, verifies=True)
        failing.write({".gauntlet/checks/ok.yml": "command: 'true'\n"})
        assert stop(failing, verifies=True).status == "passed"

    def test_three_blocks_of_unchanged_work(self, repo):
        """A client whose flag stays false is not sent back for ever: not with the same work, not in one prompt."""
        project = GatedProject(repo, "max_retries: 99\nentry_points:\n  - path: src\n    checks: [ok]\n", ok=FAILING)
        project.write({"src/a": "1"})
        found = [stop(project) for _ in range(4)]
        assert [reply.decision for reply in found] == ["block", "block", "block", "approve"]
        assert found[-1].status == "retry_limit_exceeded"
        assert "sent back 3 times without a change" in found[-1].human
        project.write({"src/a": "2"})
        assert stop(project).decision == "block"
        assert stop(project, prompt_id="next").decision == "block"

    def test_pass_is_needed_although_active(self, failing):
        """Where a pull request waits for a pass the gates run, and their failure opens nothing and blocks nothing."""
        for is_active in (True, False):
            reply = stop(failing, stop_hook_active=is_active, needs_pass=True)
            assert (reply.status, reply.decision, reply.may_open_pull) == ("failed", "approve", False)


class TestProjects:
    """Where the gates are, and whether they are on."""

    def test_no_gauntlet_config_exists(self, repo):
        """Without `.gauntlet/config.yml` nothing runs and nothing is left behind."""
        project = GatedProject.__new__(GatedProject)
        project.root = repo
        reply = stop(project)
        assert (reply.decision, reply.status) == ("approve", "no_config")
        assert "Not a gauntlet project" in reply.message
        assert (reply.status, reply.may_open_pull, project.logs) == ("no_config", True, [])

    def test_hook_from_a_subdirectory(self, failing):
        """The project is found from below, and all of it is resolved from its own root."""
        assert stop(failing, cwd=str(failing.root / "src")).status == "failed"
        assert not (failing.root / "src" / "gauntlet_logs").exists()

    def test_switched_off(self, failing):
        """Switched off, by project or environment, nothing runs, and that is said."""
        reply = stop(failing, variables={"GAUNTLET_STOP_HOOK_ENABLED": "0"})
        assert (reply.status, reply.may_open_pull, reply.summary) == ("stop_hook_disabled", True, "Gates: off.")
        assert reply.message
        config = failing.root / ".gauntlet" / "config.yml"
        config.write_text(config.read_text() + "stop_hook:\n  enabled: false\n")
        assert stop(failing).status == "stop_hook_disabled"
        assert stop(failing, variables={"GAUNTLET_STOP_HOOK_ENABLED": "1"}).status == "failed"


class TestStatuses:
    """Every outcome and its decision."""

    def test_status_passed(self, working):
        """With a configuration and without a record the gates run; a pass allows the stop, says so and is on record.

        Unknown fields of the event do not matter. A pass of what is not committed opens nothing. The record holds time,
        branch and commit.
        """
        reply = stop(working, something_new={"a": 1})
        assert (reply.decision, reply.status, reply.message) == ("approve", "passed", "The gate passed.")
        assert ran(working) == 1
        assert reply.may_open_pull is False
        values = json.loads((working.root / "gauntlet_logs" / ".execution_state").read_text())
        assert (values["branch"], values["commit"]) == ("work", working.git("rev-parse", "HEAD"))
        assert datetime.now(UTC) - datetime.fromisoformat(values["last_run_completed_at"]) < timedelta(minutes=5)
        assert values["last_run_completed_at"].endswith("Z")

    def test_status_failed(self, failing, capfd, tmp_path, monkeypatch):
        """A failure of uncommitted work blocks with a reason and a short summary, in one line.

        Nothing is printed while the gates run; the logs are written as always, wherever the process itself stands, the
        record has the same fields as after a pass, and no lock is left.
        """
        monkeypatch.chdir(tmp_path)
        reply = stop(failing, stop_hook_active=False)
        assert (reply.decision, reply.status) == ("block", "failed")
        assert reply.message == "1 of 1 gate failed: ok (check in src)."
        assert reply.human.startswith("agent-sync: 1 of 1 gate failed")
        assert reply.line().count("\n") == 1
        assert reply.line().endswith("\n")
        assert capfd.readouterr() == ("", "")
        assert "console.1.log" in failing.logs
        assert LOCK_NAME not in failing.logs
        assert not (tmp_path / "gauntlet_logs").exists()
        values = json.loads((failing.root / "gauntlet_logs" / ".execution_state").read_text())
        assert {"last_run_completed_at", "branch", "commit", "working_tree_ref"} <= set(values)

    def test_status_retry_limit_exceeded(self, failing):
        """Past the limit the stop is allowed, and a human is asked for."""
        found = [stop(failing, prompt_id=str(number)) for number in range(6)]
        assert [reply.decision for reply in found] == ["block"] * 3 + ["approve"] * 3
        assert {reply.status.value for reply in found[3:]} == {"retry_limit_exceeded"}
        assert "A human should look" in found[3].human
        assert [reply.human for reply in found[4:]] == ["", ""], "said once"
        assert "A human should look" in stop(failing, session_id="next").human
        assert ran(failing) == 4

    def test_no_applicable_gates(self, project):
        """Changes that no gate guards allow the stop."""
        project.write({"docs/x": "1"})
        reply = stop(project)
        assert (reply.status, reply.may_open_pull) == ("no_applicable_gates", False), "not committed yet"
        project.commit()
        reply = stop(project)
        assert (reply.status, reply.may_open_pull) == ("no_applicable_gates", True)
        assert "No applicable gates" in reply.message

    def test_no_changes(self, project):
        """Without changes nothing is said to have passed."""
        reply = stop(project)
        assert (reply.status, "passed" in reply.message) == ("no_changes", False)

    def test_session_in_ci(self, failing):
        """Also in CI a stop is about the working directory, committed or not."""
        assert stop(failing, variables={"CI": "true"}).status == "failed"

    def test_infrastructure_error(self, repo):
        """What cannot run allows the stop, loudly, and opens nothing."""
        project = GatedProject(repo, ok="command: no-such-program\n")
        project.write({"src/a": "1"})
        reply = stop(project)
        assert (reply.decision, reply.status, reply.may_open_pull) == ("approve", "infrastructure_error", False)
        assert "no-such-program is not installed" in reply.message
        assert reply.message in reply.human

    def test_own_deadline(self, repo):
        """Gates that take longer than the hook has are cut off, and the stop is allowed."""
        project = GatedProject(repo, ok="command: sleep 60\n")
        project.write({"src/a": "1"})
        reply = stop(project, deadline=1.0)
        assert reply.status == "infrastructure_error"

    @pytest.mark.parametrize("text", ["a: [", "entry_points:\n  - path: .\n    checks: [none]\n"])
    def test_gauntlet_execution_error(self, working, text):
        """A configuration that cannot be used allows the stop and says so to the human."""
        working.write({".gauntlet/config.yml": text})
        reply = stop(working)
        assert (reply.decision, reply.status) == ("approve", "error")
        assert "config.yml:" in reply.human

    def test_unexpected_error(self, working, monkeypatch):
        """Trouble nobody foresaw allows the stop with its details."""
        monkeypatch.setattr(gates, "gate_definitions", lambda *_: 1 / 0)
        reply = stop(working)
        assert (reply.decision, reply.status) == ("approve", "error")
        assert "ZeroDivisionError" in reply.message

    def test_subagents_at_work(self, failing):
        """While subagents run the gates wait; other background tasks do not count."""
        task = {"id": "a", "type": "subagent", "status": "running"}
        assert stop(failing, background_tasks=[task]).status == "lock_exists"
        assert ran(failing) == 0
        assert stop(failing, background_tasks=[task | {"type": "shell"}, task | {"status": "done"}]).status == "failed"


class TestNoise:
    """What the person hears."""

    def test_passing_stop_is_silent(self, working):
        """A pass has nothing to tell."""
        assert [stop(working, needs_pass=False).human for _ in range(2)] == ["", ""]

    def test_definitions_are_told_once(self, working):
        """That the definitions were changed is said once in a session, and again when they change once more."""
        off = {"GAUNTLET_STOP_HOOK_INTERVAL_MINUTES": "0"}
        working.write({".gauntlet/checks/ok.yml": "command: 'true'\nrun_in_ci: false\n"})
        found = []
        for number in range(3):
            working.write({"src/a": f"{number}"})
            found.append(stop(working, variables=off))
        assert [bool(reply.human) for reply in found] == [True, False, False]
        assert all("loosened" in reply.summary for reply in found)
        working.write({".gauntlet/checks/new.yml": "command: 'true'\n"})
        assert "added: check new" in stop(working, variables=off).human

    def test_definitions_are_told_once_per_claim(self, working):
        """While a claim is held, later sessions are not told again."""
        claim = {"schema_version": 1, "issue_number": 42, "branch": "work", "agent_id": "test", "phase": "coding"}
        working.write({".agent-claim.json": json.dumps(claim)})
        working.write({".gauntlet/checks/new.yml": "command: 'true'\n"})
        off = {"GAUNTLET_STOP_HOOK_INTERVAL_MINUTES": "0"}
        found = [stop(working, session_id=name, variables=off).human for name in ("s1", "s2")]
        assert ["added" in text for text in found] == [True, False]

    def test_trouble_is_told_once(self, repo):
        """What cannot run is said once in a session."""
        project = GatedProject(repo, ok="command: no-such-program\n")
        project.write({"src/a": "1"})
        off = {"GAUNTLET_STOP_HOOK_INTERVAL_MINUTES": "0"}
        found = [stop(project, session_id=name, variables=off).human for name in ("s", "s", "next")]
        assert ["no-such-program" in text for text in found] == [True, False, True]

    def test_every_block_is_told(self, failing):
        """A block is news each time."""
        assert all("failed" in stop(failing).human for _ in range(2))


class TestFailuresOfTheSameTurn:
    """A command that the agent typed has failed, and its turn ends."""

    SESSION: ClassVar = {"CLAUDE_CODE_SESSION_ID": "s"}

    def _types(self, project, **variables):
        context = project.context(**(self.SESSION | variables))
        options = RunOptions(WantedChanges(working=True), session=session_of(context))
        return execute_run(context, project.root, options)

    def test_stop_answers_from_the_failure(self, failing):
        """The same work is not run twice in one turn; the next stop runs again."""
        self._types(failing)
        reply = stop(failing)
        assert (reply.decision, reply.status, ran(failing)) == ("block", "failed", 1)
        assert "\nbroken\n" in reply.reason
        assert f"{failing.root}/gauntlet_logs/console.1.log" in reply.reason
        stop(failing, stop_hook_active=True, verifies=True)
        assert ran(failing) == 2

    def test_it_counts_as_a_retry(self, failing):
        """A stop that is sent back without a run uses up a retry like any other."""
        found = []
        for _ in range(4):
            self._types(failing)
            found.append(stop(failing, verifies=True).decision)
        assert found == ["block"] * 3 + ["approve"]

    OTHERWISE: ClassVar = {
        "other work": lambda project: project.write({"src/a": "2"}),
        "other gates": lambda project: project.write({".gauntlet/checks/ok.yml": "command: exit 2\n"}),
        "logs moved aside": move_logs_aside,
    }

    @pytest.mark.parametrize("change", OTHERWISE.values(), ids=OTHERWISE)
    def test_anything_else_runs(self, failing, change):
        """Changed work, changed definitions and a fresh start are run."""
        self._types(failing)
        change(failing)
        before = ran(failing)
        assert stop(failing).status == "failed"
        assert ran(failing) == before + 1

    def test_other_sessions_run(self, failing):
        """A failure of another session, or of a person's terminal, is nobody else's."""
        self._types(failing)
        stop(failing, session_id="other")
        assert ran(failing) == 2
        self._types(failing, CLAUDE_CODE_SESSION_ID="")
        stop(failing)
        assert ran(failing) == 4


class TestRecord:
    """What is put on record."""

    def test_nothing_run_nothing_recorded(self, project):
        """A stop with nothing to run does not throttle the next one."""
        stop(project)
        assert project.logs == [".gitignore"]
        project.write({"src/a": "1"})
        assert stop(project).status == "passed"


class TestInterval:
    """How often ordinary stops are looked at."""

    def test_interval_not_elapsed(self, working):
        """Shortly after a run the next ordinary stop is not checked, and the time that remains is said."""
        stop(working)
        working.write({"src/a": "2"})
        age_of_last_run(working, 5)
        reply = stop(working)
        assert (reply.decision, reply.status, ran(working)) == ("approve", "interval_not_elapsed", 1)
        assert "remain" in reply.message
        assert reply.due
        assert timedelta(minutes=4) < reply.due - datetime.now(UTC) < timedelta(minutes=6)

    def test_interval_elapsed(self, working):
        """After the interval the gates run."""
        stop(working)
        working.write({"src/a": "2"})
        age_of_last_run(working, 15)
        assert (stop(working).status, ran(working)) == ("passed", 2)

    def test_global_config_with_stop_hook_interval(self, working, own_home):
        """The user's own file sets the interval."""
        write_files(own_home, {".config/agent-gauntlet/config.yml": "stop_hook:\n  run_interval_minutes: 3\n"})
        stop(working)
        working.write({"src/a": "2"})
        age_of_last_run(working, 5)
        assert stop(working).status == "passed"

    def test_global_config_missing(self, working, own_home):
        """Without a file of the user's the interval is ten minutes, and nothing is said about it."""
        assert not (own_home / ".config").exists()
        first = stop(working)
        assert (first.human, first.notes) == ("", ())
        working.write({"src/a": "2"})
        age_of_last_run(working, 9)
        assert stop(working).status == "interval_not_elapsed"
        age_of_last_run(working, 11)
        assert stop(working).status == "passed"

    def test_global_config_invalid(self, working, own_home):
        """An invalid file of the user's is a warning, to the person once, and ten minutes hold."""
        write_files(own_home, {".config/agent-gauntlet/config.yml": "stop_hook: ["})
        first = stop(working)
        assert "the default is used" in first.human
        assert "the default is used" in first.notes[0]
        working.write({"src/a": "2"})
        second = stop(working)
        assert (second.status, second.human) == ("interval_not_elapsed", "")
        assert "the default is used" in second.notes[0]

    def test_project_cannot_set_the_interval(self, working):
        """How often to run is not the project's choice; that is said."""
        config = working.root / ".gauntlet" / "config.yml"
        config.write_text(config.read_text() + "stop_hook:\n  run_interval_minutes: 0\n")
        assert "is ignored in a project" in stop(working).human
        working.write({"src/a": "2"})
        assert stop(working).status == "interval_not_elapsed"

    def test_environment_sets_the_interval(self, working):
        """The environment can, for one session."""
        stop(working)
        working.write({"src/a": "2"})
        assert stop(working, variables={"GAUNTLET_STOP_HOOK_INTERVAL_MINUTES": "0"}).status == "passed"

    def test_failures_are_not_throttled(self, failing):
        """After a failure every stop is checked."""
        stop(failing)
        assert stop(failing).status == "failed"
        failing.write({".gauntlet/checks/ok.yml": "command: 'true'\n"})
        assert stop(failing).status == "passed"

    def test_needed_pass_is_not_throttled(self, working):
        """A pull request that waits for a pass is not held up by the interval."""
        stop(working)
        working.write({"src/a": "2"})
        assert stop(working, needs_pass=True).status == "passed"

    def test_record_from_the_future(self, working):
        """A clock that was put back throttles nothing."""
        stop(working)
        working.write({"src/a": "2"})
        age_of_last_run(working, -60)
        assert stop(working).status == "passed"

    def test_killed_run_after_a_pass_is_not_throttled(self, working):
        """Logs that no finished run accounts for are looked into at once."""
        stop(working)
        working.write({"src/a": "2", "gauntlet_logs/check_src_ok.1.log": "cut off"})
        assert stop(working).status == "passed"

    def test_partial_run_does_not_throttle(self, working):
        """A run of one gate by hand does not stand for all of them."""
        stop(working)
        file = working.root / "gauntlet_logs" / ".execution_state"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"partial": True}))
        working.write({"src/a": "2"})
        assert stop(working).status == "passed"


class TestLock:
    """One run at a time."""

    def _lock(self, project, text):
        write_files(project.root, {f"gauntlet_logs/{LOCK_NAME}": text})

    def test_lock_file_exists(self, failing):
        """While another run is in progress the stop is allowed and no file is written."""
        self._lock(failing, f"{os.getppid()}\n")
        before = failing.logs
        reply = stop(failing)
        assert (reply.decision, reply.status, reply.may_open_pull) == ("approve", "lock_exists", False)
        assert "already in progress" in reply.message
        assert failing.logs == before

    @pytest.mark.parametrize("text", ["4194305\n", "4194305", "OURS\nanother/moment\n"])
    def test_lock_of_a_dead_process(self, failing, text):
        """A killed run does not switch the gate off."""
        self._lock(failing, text.replace("OURS", str(os.getpid())))
        assert stop(failing).status == "failed"

    def test_lock_without_a_process(self, failing):
        """A lock that does not say whose it is counts for ten minutes."""
        self._lock(failing, "")
        assert stop(failing).status == "lock_exists"
        past = time.time() - 601
        os.utime(failing.root / "gauntlet_logs" / LOCK_NAME, (past, past))
        assert stop(failing).status == "failed"

    def test_lock_that_cannot_be_written(self, failing):
        """On a disk without room no lock is left behind, which would count as somebody's for ten minutes."""
        place, logs = failing.context().place, failing.root / "gauntlet_logs"
        logs.mkdir()
        with alone(place, logs) as is_alone:
            assert is_alone
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
            try:
                with alone(place, logs):
                    os._exit(1)
            except OSError:
                os._exit(0)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert list(logs.iterdir()) == []
        assert stop(failing).status == "failed"


def test_stop_reason(failing):
    """What the agent is told: what failed, where to read on, what to do now, and when it ends."""
    reason = stop(failing).reason
    # The absolute path of the newest console log is there, and what it is for.
    assert f"full details of the run): {failing.root}/gauntlet_logs/console.1.log" in reason
    # What failed is named with its log.
    assert "- ok (check in src): Exited with code 1" in reason
    assert f"Log: {failing.root}/gauntlet_logs/check_src_ok.1.log" in reason
    # The agent is not told to run the gates itself.
    assert "gauntlet run" not in reason
    assert "gate run" not in reason
    assert "checked again automatically" in reason
    # It is emphatic, and says that stopping is not possible yet.
    assert "fix the problems now" in reason
    assert "You cannot stop until" in reason
    # The trust level is medium, with when to fix and when to skip.
    assert "trust level: medium" in reason
    assert "Fix what you reasonably agree with" in reason
    assert "Skip what is purely a matter of style" in reason
    # The two fields and the two words for them are explained.
    for words in ('"status" and "result"', '"status": "fixed"', '"status": "skipped"'):
        assert words in reason
    # The three ends are listed.
    for words in ("Status: Passed", "Status: Passed with warnings", "Status: Retry limit exceeded"):
        assert f'"{words}"' in reason
    assert "agent-sync gate clean" in reason


class TestPullRequests:
    """What a pull request may rely on."""

    def test_committed_pass_may_open(self, working):
        """What passed is what is committed: a pull request may follow, and its body names gates and tree."""
        working.commit()
        reply = stop(working)
        tree = working.git("rev-parse", "HEAD^{tree}")
        assert (reply.may_open_pull, reply.tree) == (True, tree)
        assert "| `ok (check in src)` | ✓ Passed |" in reply.summary
        assert f"Tree: `{tree}`" in reply.summary

    def test_remembered_pass_may_open(self, working):
        """A pass found again after committing opens the pull request without another run."""
        stop(working)
        working.commit()
        reply = stop(working, needs_pass=True)
        assert (reply.may_open_pull, ran(working)) == (True, 1)
        assert "unchanged since" in reply.message

    def test_changed_definitions_are_reported(self, failing):
        """A branch that makes its own gates easier is told on."""
        failing.write(
            {
                ".gauntlet/checks/ok.yml": "command: 'true'\nrun_in_ci: false\n",
                ".gauntlet/checks/new.yml": "command: 'true'\n",
            }
        )
        failing.commit()
        reply = stop(failing)
        for words in ("changed: check ok, command", "loosened: check ok, run_in_ci", "added: check new"):
            assert words in reply.human
            assert words in reply.summary
