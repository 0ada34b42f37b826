"""The commands as people and clients start them."""

import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import ClassVar

import pytest
from support.command import COMMAND, fixture, run
from support.gauntlet import GatedProject, write_files
from support.prove import PROVE

from agent_sync.cli.gates.progress import Moving
from agent_sync.gates.run.logs import MARK
from agent_sync.gates.run.results import JobOutcome, JobResult

FAILING = "command: echo broken; exit 1\n"


@pytest.fixture
def failing(repo, monkeypatch):
    """A project whose only check fails."""
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    project = GatedProject(repo, ok=FAILING)
    project.write({"src/a": "1"})
    return project


def repair(project):
    project.write({".gauntlet/checks/ok.yml": "command: 'true'\n"})


def gauntlet(project, *arguments, **environment):
    return run("gauntlet", *arguments, cwd=project.root, **environment)


def stop_hook(project, stdin=None, *arguments, **environment):
    given = fixture("Stop", project.root) if stdin is None else stdin
    return run("gauntlet", "stop-hook", *arguments, cwd=project.root, stdin=given, **environment)


def test_run(failing):
    """`run` shows each gate and the status, and exits by it; the copy of the console's text has the same lines."""
    first = gauntlet(failing, "run")
    assert first.status == 1
    assert "ok (check in src) ....." in first.stdout
    assert "Failed (Exited with code 1)" in first.stdout
    assert first.stdout.endswith("Status: Failed\n")
    assert "check_src_ok.1.log" in failing.logs
    kept = (failing.root / "gauntlet_logs" / "console.1.log").read_text()
    assert kept.splitlines()[-1] == first.stdout.splitlines()[-1]
    assert "ok (check in src)" in kept
    repair(failing)
    second = gauntlet(failing, "run")
    assert (second.status, second.stdout.endswith("Status: Passed\n")) == (0, True)
    third = gauntlet(failing, "run")
    assert "unchanged since" in third.stdout
    assert third.stdout.endswith("Status: Passed\n")


def test_name_of_a_gate_does_not_steer_the_terminal(repo):
    """What a checkout calls its gates and its base is shown without the characters that a terminal obeys."""
    from rich.console import Console

    config = 'entry_points:\n  - path: src\n    checks: ["a\\e[31mb"]\n'
    project = GatedProject(repo, config, **{"a\x1b[31mb": "command: 'true'\n"})
    project.write({"src/a": "1"})
    for arguments in (["detect"], ["detect", "--base-branch", "main"], ["run"]):
        shown = gauntlet(project, *arguments)
        assert "a[31mb" in shown.stdout
        assert "\x1b" not in shown.stdout + shown.stderr
    console = Console(file=io.StringIO(), force_terminal=True, color_system=None)
    lines = Moving(console, console.status(""))
    lines.ended(JobResult("check:src:a\x1b[31mb", JobOutcome.PASSED))
    lines.printed("a\x1b[31mb")
    assert "\x1b[31m" not in console.file.getvalue()


def test_run_as_json(failing):
    """With --json there is one object and nothing else."""
    values = json.loads(gauntlet(failing, "run", "--json").stdout)
    assert (values["status"], values["results"][0]["outcome"]) == ("failed", "Failed")


def test_exit_code_of_a_failure(failing):
    """A failing gate fails `check` too, and its logs stay."""
    assert gauntlet(failing, "check").status == 1
    assert "check_src_ok.1.log" in failing.logs
    repair(failing)
    assert gauntlet(failing, "check").status == 0


def test_review_without_reviews(failing):
    """Reviews alone, where there are none, are no failure."""
    found = gauntlet(failing, "review")
    assert (found.status, "No applicable gates" in found.stdout) == (0, True)


def test_unusable_configuration_is_printed(failing):
    """`run` says what is wrong and where."""
    failing.write({".gauntlet/config.yml": "a: ["})
    found = gauntlet(failing, "run")
    assert found.status == 1
    assert "config.yml:1: is not valid YAML" in found.stdout


def test_unknown_base_is_printed(failing):
    """A base that was asked for and is not there is an error."""
    found = gauntlet(failing, "run", "--base-branch", "none")
    assert (found.status, "There is no branch or commit 'none'" in found.stdout) == (1, True)


def test_validate(failing):
    """`validate` lists every problem with its place."""
    assert gauntlet(failing, "validate").stdout == "✓ The configuration is valid.\n"
    failing.write({".gauntlet/checks/ok.yml": "comand: x\n"})
    found = gauntlet(failing, "validate")
    assert found.status == 1
    assert "`command` is missing" in found.stdout
    assert "did you mean `command`?" in found.stdout
    assert json.loads(gauntlet(failing, "validate", "--json").stdout)[0]["line"] == 1


def test_list_and_detect(failing):
    """`list` shows what is defined, `detect` what would run."""
    assert "check   ok" in gauntlet(failing, "list").stdout
    assert json.loads(gauntlet(failing, "list", "--json").stdout)["checks"] == ["ok"]
    assert "ok (check in src)" in gauntlet(failing, "detect").stdout
    found = json.loads(gauntlet(failing, "detect", "--json").stdout)
    assert found == {"files": ["src/a"], "gates": ["check:src:ok"], "skipped": {}}
    assert failing.logs == []


def test_validate_names_what_is_not_read(failing):
    """A file of agent-gauntlet that has no effect here is a warning of `validate`, and of nothing else."""
    failing.write({".gauntlet/ci.yml": "runtimes: {}\n"})
    found = gauntlet(failing, "validate")
    assert found.status == 0
    assert "ci.yml:1: is not read: agent-sync makes no CI jobs of gates" in found.stdout
    assert "ci.yml" not in gauntlet(failing, "run").stdout.replace("changed: .gauntlet/ci.yml", "")


def test_status_and_clean(failing):
    """`status` shows what is unresolved, `clean` ends the session and is harmless when repeated."""
    assert gauntlet(failing, "clean").stdout.startswith("Nothing to clean: there is no log directory")
    gauntlet(failing, "run")
    assert json.loads(gauntlet(failing, "status", "--json").stdout)["unresolved"] is True
    shown = gauntlet(failing, "status").stdout
    assert re.search(r"^last run     Failed, \d+ s ago, on branch work$", shown, re.MULTILINE)
    for row in (
        "unresolved   yes, the next stop runs the gates again\n",
        "retries      0 of 3 used\n",
        "running now  no\n",
        f"console log  {failing.root}/gauntlet_logs/console.1.log\n",
        "stop hook    on, at most one ordinary run in 10 min\n",
    ):
        assert row in shown
    for leak in ("True", "minutes", "T0", "+00:00", "None"):
        assert leak not in shown.replace(str(failing.root), "")
    assert "Moved the logs" in gauntlet(failing, "clean").stdout
    assert json.loads(gauntlet(failing, "status", "--json").stdout)["unresolved"] is False
    assert "nothing to clean" in gauntlet(failing, "clean").stdout
    assert (failing.root / "gauntlet_logs" / "previous" / ".execution_state").exists()


class TestLogDirectoryOfSomebodyElse:
    """`log_dir` is a word of the repository: no command follows it out of the project or into somebody's files."""

    FILES: ClassVar = {"package.json": "{}", "notes.log": "mine", "previous.2/thesis.txt": "years of work"}

    def _config(self, project, line):
        config = project.root / ".gauntlet" / "config.yml"
        config.write_text(f"{config.read_text()}{line}\n")

    KINDS = ("absolute", "home", "above", "link in the project", "committed link")

    # Where not all is tried, the kinds take turns in how much is kept.
    @pytest.mark.parametrize(
        ("kind", "keep"),
        [*itertools.product(KINDS, (0, 3))] if PROVE else [*zip(KINDS, itertools.cycle((0, 3)), strict=False)],
    )
    def test_outside(self, failing, own_home, kind, keep):
        """A directory outside of the project keeps every file, whatever `clean` and the gates do."""
        precious = own_home / "precious"
        write_files(precious, self.FILES)
        log_dir = {"absolute": str(precious), "home": "~/precious", "above": os.path.relpath(precious, failing.root)}
        if kind == "link in the project":
            (failing.root / "inside").symlink_to(precious)
        if kind == "committed link":
            (failing.root / "gauntlet_logs").symlink_to(precious)
        line = f"log_dir: {log_dir.get(kind, 'inside' if 'project' in kind else 'gauntlet_logs')}"
        self._config(failing, f"max_previous_logs: {keep}\n{line}")
        gauntlet(failing, "clean")
        stop_hook(failing)
        gauntlet(failing, "clean")
        found = {path.relative_to(precious).as_posix() for path in precious.rglob("*") if path.is_file()}
        assert found == set(self.FILES)

    @pytest.mark.parametrize("keep", [0, 3])
    def test_inside(self, failing, keep):
        """A directory of the project that no run has made is refused with the reason, and stays as it is."""
        write_files(failing.root / "src" / "data", self.FILES)
        failing.commit("Add data")
        self._config(failing, f"max_previous_logs: {keep}\nlog_dir: src/data")
        found = gauntlet(failing, "clean")
        assert (found.status, "is not one that agent-sync made" in found.stderr) == (1, True)
        assert stop_hook(failing).reply["status"] == "error"
        assert failing.git("status", "--porcelain", "--", "src/data") == ""


def test_clean_during_a_run(failing):
    """A session that is being written is not moved away."""
    failing.write({"gauntlet_logs/.gitignore": MARK, "gauntlet_logs/.gauntlet-run.lock": f"{os.getpid()}\n"})
    found = gauntlet(failing, "clean")
    assert (found.status, "in progress" in found.stderr) == (8, True)


def test_health(failing):
    """`health` tells which reviewers can be asked."""
    config = failing.root / ".gauntlet" / "config.yml"
    config.write_text(config.read_text() + "cli:\n  default_preference: [claude, cluade]\n")
    found = gauntlet(failing, "health", PATH="/usr/bin:/bin")
    assert found.status == 0
    assert "claude is not installed" in found.stdout
    assert "not known" in found.stdout


def test_init(repo):
    """`init` writes a configuration that is valid, and never over one."""
    (repo / "pyproject.toml").write_text("")
    shown = run("gauntlet", "init", "--dry-run", cwd=repo)
    assert "python -m pytest" in shown.stdout
    assert not (repo / ".gauntlet").exists()
    assert run("gauntlet", "init", "--yes", cwd=repo).status == 0
    assert run("gauntlet", "validate", cwd=repo).status == 0
    assert "base_branch: main" in (repo / ".gauntlet" / "config.yml").read_text()
    assert run("gauntlet", "init", "--yes", cwd=repo).status == 1


def test_outside_a_project(repo):
    """Where there are no gates the way to some is said."""
    found = run("gauntlet", "run", cwd=repo)
    assert (found.status, "agent-sync gate init" in found.stderr) == (1, True)


class TestStopHook:
    """The hook as a client starts it."""

    def test_block_and_release(self, failing):
        """A failing tree is sent back with one line of JSON, the repaired one may stop."""
        blocked = stop_hook(failing)
        assert (blocked.status, blocked.reply["decision"], blocked.reply["status"]) == (0, "block", "failed")
        assert blocked.stdout.count("\n") == 1
        repair(failing)
        passed = stop_hook(failing)
        assert (passed.status, passed.reply["decision"], passed.reply["status"]) == (0, "approve", "passed")

    def test_exit_code_past_the_limit(self, failing):
        """However often it fails the exit code is 0."""
        found = [stop_hook(failing) for _ in range(5)]
        assert {one.status for one in found} == {0}
        assert found[-1].reply["status"] == "retry_limit_exceeded"

    def test_input_that_is_no_object(self, failing):
        """Whatever comes in, one line comes out."""
        for stdin in ("", "x", "[]", "{"):
            found = stop_hook(failing, stdin)
            assert (found.status, found.reply["status"]) == (0, "invalid_input"), stdin

    def test_interval_is_noted_on_stderr(self, failing):
        """While the interval has not elapsed standard error says so, from the stamp too."""
        repair(failing)
        stop_hook(failing)
        for found in (stop_hook(failing), stop_hook(failing)):
            assert found.reply["status"] == "interval_not_elapsed"
            assert found.stderr == f"agent-sync: {found.reply['message']}\n"

    def test_global_config_invalid(self, failing, own_home):
        """A warning about the user's file is on standard error, at every stop."""
        write_files(own_home, {".config/agent-gauntlet/config.yml": "stop_hook: ["})
        for _ in range(2):
            assert "the default is used" in stop_hook(failing).stderr

    def test_no_usage_error(self, failing):
        """Words the hook does not know change nothing: exit code 2 would mean something else."""
        for words in (("--wrong",), ("extra", "words"), ("-x",)):
            found = stop_hook(failing, None, *words)
            assert (found.status, found.reply["status"]) == (0, "failed"), words

    def test_nested(self, failing):
        """Inside a review the stop is allowed."""
        assert stop_hook(failing, AGENT_SYNC_NESTED="1").reply["status"] == "stop_hook_active"

    def test_recorded_events(self, failing):
        """Events as the client really sends them are understood."""
        assert stop_hook(failing, fixture("Stop.active", failing.root)).reply["status"] == "stop_hook_active"
        assert stop_hook(failing, fixture("Stop.background-tasks", failing.root)).reply["status"] == "lock_exists"

    def test_outside_a_repository(self, tmp_path):
        """Without a repository there is no project."""
        found = run("gauntlet", "stop-hook", cwd=tmp_path, stdin="{}")
        assert (found.status, found.reply["status"]) == (0, "no_config")

    def test_broken_settings(self, failing):
        """A settings file of ours that cannot be read allows the stop."""
        failing.write({".agent-sync.toml": "x ="})
        found = stop_hook(failing)
        assert (found.status, found.reply["decision"], found.reply["status"]) == (0, "approve", "error")

    def test_own_deadline(self, failing):
        """The hook answers before its own deadline, and leaves no process."""
        pid = failing.root / "ignored"
        failing.write({".gauntlet/checks/ok.yml": f"command: echo $$ > {pid}; sleep 60\n"})
        found = stop_hook(failing, AGENT_SYNC_HOOKS_STOP_DEADLINE_S="2")
        assert (found.status, found.reply["status"]) == (0, "infrastructure_error")
        assert is_gone(int(pid.read_text()))

    def test_help(self, failing):
        """Its page is there for people."""
        assert "one JSON line out" in run("gauntlet", "stop-hook", "--help", cwd=failing.root).stdout


class TestKilledRuns:
    """A run that is killed switches nothing off and leaves nothing behind."""

    @pytest.fixture
    def hanging(self, failing):
        """A run in the middle of a gate, and the gate's own process."""
        pid = failing.root / "ignored"
        failing.write({".gauntlet/checks/ok.yml": f"command: sleep 300 & echo $! > {pid}; wait\n"})
        with subprocess.Popen([COMMAND, "gauntlet", "run"], cwd=failing.root, stdout=subprocess.DEVNULL) as process:
            wait_for(lambda: pid.exists() and pid.read_text().strip())
            yield failing, process, int(pid.read_text())
            process.kill()

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_children_end_and_the_gate_stays_on(self, hanging, number):
        """No process of the gate survives, and the next stop runs the gates."""
        project, process, gate = hanging
        index = (project.root / ".git" / "index").read_bytes()
        process.send_signal(number)
        process.wait(30)
        assert is_gone(gate)
        assert (project.root / ".git" / "index").read_bytes() == index
        project.write({".gauntlet/checks/ok.yml": FAILING})
        assert stop_hook(project).reply["status"] == "failed"

    @pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a program can leave")
    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    def test_what_left_the_session_ends_too(self, failing, tmp_path, number):
        """A gate's programs that made themselves a session of their own do not outlive a run that is killed."""
        one, other = tmp_path / "session", tmp_path / "double-fork"
        command = (
            f"setsid sleep 300 & echo $! > {one}; "
            f"sh -c 'setsid sh -c \"echo \\$\\$ > {other}; exec sleep 300\" &' & sleep 300"
        )
        failing.write({".gauntlet/checks/ok.yml": f"command: |\n  {command}\n"})
        with subprocess.Popen([COMMAND, "gauntlet", "run"], cwd=failing.root, stdout=subprocess.DEVNULL) as process:
            wait_for(lambda: all(pid.exists() and pid.read_text().strip() for pid in (one, other)))
            process.send_signal(number)
            process.wait(30)
        for pid in (one, other):
            assert is_gone(int(pid.read_text())), pid.name

    def test_stop_during_a_run(self, hanging):
        """While it lives the lock counts, and the loser leaves no file."""
        project, _, _ = hanging
        before = project.logs
        assert stop_hook(project).reply["status"] == "lock_exists"
        assert gauntlet(project, "run").status == 1
        assert project.logs == before

    def test_killed_runs_are_no_retries(self, failing):
        """However many runs are killed, the retry limit is not used up by them."""
        for number in range(1, 6):
            failing.write({f"gauntlet_logs/check_src_ok.{number}.log": "", f"gauntlet_logs/console.{number}.log": ""})
        assert stop_hook(failing).reply["status"] == "failed"


def wait_for(condition):
    give_up = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def is_gone(pid):
    give_up = time.monotonic() + 15
    while time.monotonic() < give_up:
        state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False)
        if not state.stdout.strip() or state.stdout.startswith("Z"):
            return True
        time.sleep(0.05)
    return False


def test_live_progress_on_a_terminal(failing):
    """On a terminal the gates that run are shown, and each one's result in colour."""
    main, other = os.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen(
        [COMMAND, "gauntlet", "run"], cwd=failing.root, stdin=other, stdout=other, stderr=other, env=environment
    ) as process:
        os.close(other)
        shown = b""
        while chunk := _read(main):
            shown += chunk
        assert process.wait(30) == 1
    os.close(main)
    assert b"\x1b[31m" in shown
    assert b"Status: Failed" in shown


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


def test_views_as_json(failing):
    """Every listing can be read by programs."""
    assert set(json.loads(gauntlet(failing, "health", "--json").stdout)["reviewers"]) >= {"claude", "codex"}
    assert gauntlet(failing, "run", "-u", "-c", "HEAD").status == 2
    failing.write({".gauntlet/config.yml": "a: ["})
    assert gauntlet(failing, "detect").status == 1
    assert "not valid YAML" in gauntlet(failing, "list").stderr
