import subprocess
import time

import pytest
from support.gauntlet import GatedProject, write_files
from support.prove import PROVE

from agent_sync.gates.plan.changes import WantedChanges
from agent_sync.gates.plan.plan import Scope
from agent_sync.gates.plan.prepare import RunOptions, StopAttempt
from agent_sync.gates.run.execute import execute_run
from agent_sync.gates.run.logs import MARK
from agent_sync.gates.run.results import JobOutcome
from agent_sync.gates.status import Status


def run(project, *, again=False, **options):
    return execute_run(project.context(), project.root, RunOptions(again=again, **options))


def outcomes(result):
    return {one.id: one.outcome for one in result.results}


def gated(repo, config="entry_points:\n  - path: src\n    checks: [c]\n", **checks):
    project = GatedProject(repo, config, **checks)
    project.write({"src/a": "1"})
    return project


def log_of(project, name):
    return (project.root / "gauntlet_logs" / name).read_text(errors="replace")


def test_pass(project):
    """A pass leaves the record, and the logs moved aside."""
    project.write({"src/a": "1"})
    result = run(project)
    assert (result.status, result.message) == (Status.PASSED, "The gate passed.")
    assert project.logs == [".execution_state", ".gitignore", "previous"]
    assert sorted(path.name for path in (project.root / "gauntlet_logs" / "previous").iterdir()) == [
        "check_src_ok.1.log",
        "console.1.log",
    ]
    assert result.console_log == project.root / "gauntlet_logs" / "previous" / "console.1.log"
    assert result.console_log.read_text().endswith("Status: Passed\n")


def test_fail(repo):
    """A failure leaves its logs where they are, and says where."""
    project = gated(repo, c="command: echo broken; exit 3\n")
    result = run(project)
    assert (result.status, result.message) == (Status.FAILED, "1 of 1 gate failed: c (check in src).")
    assert project.logs == [".execution_state", ".gitignore", "check_src_c.1.log", "console.1.log"]
    assert "broken\n" in log_of(project, "check_src_c.1.log")
    assert "Result: fail - Exited with code 3" in log_of(project, "check_src_c.1.log")
    assert str(project.root / "gauntlet_logs" / "check_src_c.1.log") in log_of(project, "console.1.log")


def test_nothing_is_printed(repo, capfd):
    """The executor prints nothing, whatever the gates print."""
    project = gated(repo, c="command: echo out; echo err >&2; exit 1\n")
    run(project)
    assert capfd.readouterr() == ("", "")


def test_no_changes(project):
    """Without changes nothing runs, and no file is left but the empty directory."""
    result = run(project)
    assert result.status is Status.NO_CHANGES
    assert project.logs == [".gitignore"]


def test_no_applicable_gates(project):
    """Changes that no gate guards run nothing; gates left out are named."""
    project.write({"docs/a": "1"})
    assert run(project).message == "No applicable gates: none matched the changed files."
    project.write({"src/a": "1", ".gauntlet/checks/ok.yml": "command: 'true'\nrun_locally: false\n"})
    result = run(project)
    assert result.status is Status.NO_APPLICABLE_GATES
    assert result.message.endswith("runs here. Skipped: ok (check in src), run_locally: false.")


def test_ci_runs_every_check(repo):
    """In CI checks run by default, and those left out are shown with the reason."""
    project = gated(
        repo,
        "entry_points:\n  - path: src\n    checks: [c, local]\n",
        c="command: exit 1\n",
        local="command: 'true'\nrun_in_ci: false\n",
    )
    project.commit()
    result = execute_run(project.context(CI="true"), project.root)
    assert result.status is Status.FAILED
    assert "local (check in src)" in log_of(project, "console.1.log")
    assert "Skipped (run_in_ci: false)" in log_of(project, "console.1.log")


def test_environment_and_base(repo):
    """A check sees the environment and the base branch, in its directory."""
    project = gated(repo, c='command: echo "${BASE_BRANCH} $BASE_BRANCH $PWD"; exit 1\n')
    run(project)
    assert f"main main {project.root}/src" in log_of(project, "check_src_c.1.log")


def test_time_limit_takes_grandchildren_down(repo, tmp_path):
    """A check that forks and hangs fails at its own limit and leaves no process."""
    pid = tmp_path / "pid"
    project = gated(repo, c=f"command: sleep 60 & echo $! > {pid}; wait\ntimeout: 0.5\n")
    result = run(project)
    assert (result.status, result.results[0].message) == (Status.FAILED, "Timed out after 0.5 s")
    assert not _is_running(int(pid.read_text()))


def _is_running(pid):
    state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


def test_the_runs_own_limit_is_not_a_failure(repo):
    """A gate cut off by the whole run's limit says nothing about the work."""
    project = gated(repo, c="command: sleep 60\ntimeout: 50\n")
    result = run(project, deadline=time.monotonic() + 0.5)
    assert result.status is Status.INFRASTRUCTURE_ERROR
    assert "time was used up" in result.message


def test_much_output_is_no_error(repo):
    """Far more output than a program should keep in memory is kept on disk and changes nothing."""
    size = (50 if PROVE else 8) << 20
    project = gated(repo, c=f"command: yes 0123456789012345678901234567890123456789 | head -c {size}\n")
    result = run(project)
    assert result.status is Status.PASSED
    assert (project.root / "gauntlet_logs/previous/check_src_c.1.log").stat().st_size > size


def test_output_that_is_no_text(repo):
    """Bytes that are no UTF-8 are kept as they are."""
    project = gated(repo, c="command: printf '\\377\\376'; exit 1\n")
    assert run(project).status is Status.FAILED
    assert b"\xff\xfe" in (project.root / "gauntlet_logs/check_src_c.1.log").read_bytes()


INFRASTRUCTURE = {
    "unknown program": ("command: surely-not-installed --x\n", "surely-not-installed is not installed, or not on PATH"),
    "unknown script": ("command: ./missing.sh\n", "./missing.sh is not installed, or not on PATH"),
    "unknown directory": ("command: 'true'\nworking_directory: nowhere\n", "does not exist"),
}


@pytest.mark.parametrize(("check", "message"), INFRASTRUCTURE.values(), ids=INFRASTRUCTURE)
def test_infrastructure_is_not_failure(repo, check, message):
    """What cannot run at all is said, and is not the work's fault."""
    result = run(gated(repo, c=check))
    assert result.status is Status.INFRASTRUCTURE_ERROR
    assert message in result.message


def test_a_real_failure_outranks(repo):
    """A failing gate counts although another one could not run."""
    config = "entry_points:\n  - path: src\n    checks: [a, b]\n"
    assert run(gated(repo, config, a="command: no-such-program\n", b="command: exit 1\n")).status is Status.FAILED


def test_words_of_the_shell_run(repo):
    """Commands that begin with the shell's own words, assignments or quotes are not mistaken for missing programs."""
    lines = (
        "cd . && true",
        "A=1 true",
        "A='x y' true",
        "[ -d . ]",
        "if true; then :; fi",
        "# note\n  true",
        '"true"',
        "(true)",
    )
    checks = {f"c{number}": f"command: |\n  {line}\n" for number, line in enumerate(lines)}
    result = run(gated(repo, f"entry_points:\n  - path: src\n    checks: [{', '.join(checks)}]\n", **checks))
    assert outcomes(result) == {f"check:src:{name}": JobOutcome.PASSED for name in checks}
    assert result.status is Status.PASSED


def test_fail_fast(repo):
    """A failing gate that says so stops what has not been launched yet."""
    config = "entry_points:\n  - path: src\n    checks: [a, b]\n"
    result = run(gated(repo, config, a="command: exit 1\nfail_fast: true\n", b="command: 'true'\n"))
    assert outcomes(result) == {"check:src:a": JobOutcome.FAILED, "check:src:b": JobOutcome.SKIPPED}
    assert result.results[1].message == "fail_fast after a (check in src)"


def test_parallel_and_sequential(repo, tmp_path):
    """Parallel gates run at the same time, the others one after the other beside them."""
    order = tmp_path / "order"
    # Each parallel gate waits for the other one: only side by side can both end.
    meet = "touch {0}/{1}; while [ ! -e {0}/{2} ]; do sleep 0.02; done"
    config = "entry_points:\n  - path: src\n    checks: [p1, p2, s1, s2]\n"
    project = gated(
        repo,
        config,
        p1=f"command: {meet.format(tmp_path, 'p1', 'p2')}\nparallel: true\ntimeout: 30\n",
        p2=f"command: {meet.format(tmp_path, 'p2', 'p1')}\nparallel: true\ntimeout: 30\n",
        s1=f"command: sleep 0.2; echo s1 >> {order}\n",
        s2=f"command: echo s2 >> {order}\n",
    )
    assert run(project).status is Status.PASSED
    assert order.read_text() == "s1\ns2\n"


def test_cap_on_parallelism(repo, tmp_path):
    """No more gates run at a time than are allowed."""
    line = f"n=$(mktemp {tmp_path}/on.XXXXXX); ls {tmp_path} | grep -c on. >> {tmp_path}/seen; sleep 0.2; rm $n"
    names = [f"c{number}" for number in range(5)]
    config = f"entry_points:\n  - path: src\n    checks: [{', '.join(names)}]\n"
    project = gated(repo, config, **dict.fromkeys(names, f"command: {line}\nparallel: true\n"))
    execute_run(project.context(AGENT_SYNC_GATE_PARALLEL="2"), project.root)
    assert max(int(line) for line in (tmp_path / "seen").read_text().split()) <= 2


def test_time_over_the_slowest_gate_is_small(repo):
    """Running gates side by side costs little more than the slowest of them."""
    names = [f"c{number}" for number in range(4)]
    config = f"entry_points:\n  - path: src\n    checks: [{', '.join(names)}]\n"
    project = gated(repo, config, **dict.fromkeys(names, "command: sleep 1\nparallel: true\n"))
    result = execute_run(project.context(AGENT_SYNC_GATE_PARALLEL="4"), project.root)
    slowest = max(one.seconds for one in result.results)
    assert sum(one.seconds for one in result.results) > 3 * slowest


def test_rerun_uses_its_own_command(repo):
    """After a failure a check may have a shorter way to look again."""
    project = gated(repo, c="command: exit 1\nrerun_command: echo again\n")
    assert run(project).status is Status.FAILED
    assert run(project).status is Status.PASSED


def test_fix_instructions(repo):
    """What a project advises for a failing gate stands at the end of its log."""
    project = gated(repo, c="command: exit 1\nfix_instructions_file: fix.md\n")
    project.write({".gauntlet/fix.md": "Run the formatter."})
    run(project)
    assert log_of(project, "check_src_c.1.log").endswith("--- Fix Instructions ---\nRun the formatter.\n")


def test_odd_entry_names_get_logs_of_their_own(repo):
    """Parts whose names differ only in odd characters do not share a log."""
    config = 'entry_points:\n  - path: "s/ü"\n    checks: [c]\n  - path: "s/é"\n    checks: [c]\n'
    project = gated(repo, config, c="command: exit 1\n")
    project.write({"s/ü/a": "", "s/é/a": ""})
    result = run(project)
    assert len({one.log for one in result.results}) == 2


# How long a session may fail


def test_retries_are_bounded(repo):
    """The first run and max_retries more are allowed; the last failure, and every later stop, is the limit."""
    project = gated(repo, "max_retries: 2\nentry_points:\n  - path: src\n    checks: [c]\n", c="command: exit 1\n")
    stop = StopAttempt("s", "s/p", is_known_turn=True)
    assert [run(project, attempt=stop).status for _ in range(5)] == [
        Status.FAILED,
        Status.FAILED,
        Status.RETRY_LIMIT_EXCEEDED,
        Status.RETRY_LIMIT_EXCEEDED,
        Status.RETRY_LIMIT_EXCEEDED,
    ]
    assert "console.3.log" in project.logs
    assert "console.4.log" not in project.logs


def test_no_retries(repo):
    """With max_retries 0 the gates run once, and their failure is already the limit."""
    project = gated(repo, "max_retries: 0\nentry_points:\n  - path: src\n    checks: [c]\n", c="command: exit 1\n")
    assert run(project, attempt=StopAttempt()).status is Status.RETRY_LIMIT_EXCEEDED
    assert "check_src_c.1.log" in project.logs


def test_typed_runs_are_not_limited(repo):
    """Runs that somebody asks for use up no retry, and run also past the limit."""
    project = gated(repo, "max_retries: 1\nentry_points:\n  - path: src\n    checks: [c]\n", c="command: exit 1\n")
    stop = StopAttempt("s", "s/p", is_known_turn=True)
    assert [run(project).status for _ in range(4)] == [Status.FAILED] * 4
    assert run(project, attempt=stop).status is Status.FAILED
    assert run(project, attempt=stop).status is Status.RETRY_LIMIT_EXCEEDED
    assert run(project).status is Status.FAILED
    assert run(project, attempt=stop).status is Status.RETRY_LIMIT_EXCEEDED
    assert "console.7.log" in project.logs, "the last stop runs nothing"
    assert "console.8.log" not in project.logs


def test_committing_broken_work_does_not_help(repo):
    """A failure stays one when the work is committed, on a branch of its own and on the base itself."""
    project = gated(repo, c="command: exit 1\n")
    assert run(project).status is Status.FAILED
    project.commit()
    assert run(project).status is Status.FAILED
    project.git("checkout", "-q", "main")
    run(project)
    project.write({"src/b": "1"})
    assert run(project).status is Status.FAILED
    project.commit()
    assert run(project).status is Status.FAILED


def test_deleting_logs_does_not_help(repo):
    """Without its logs a failure is still one."""
    project = gated(repo, c="command: exit 1\n")
    run(project)
    for path in (project.root / "gauntlet_logs").glob("*.log"):
        path.unlink()
    assert run(project).status is Status.FAILED


def test_edited_log_is_no_pass(repo):
    """A log that says otherwise changes nothing."""
    project = gated(repo, c="command: exit 1\n")
    run(project)
    (project.root / "gauntlet_logs" / "check_src_c.1.log").write_text("Result: pass - Exited with code 0\n")
    assert run(project).status is Status.FAILED


def test_taking_everything_back_ends_the_session(repo):
    """With the work gone there is nothing left that could fail."""
    project = gated(repo, c="command: exit 1\n")
    run(project)
    (project.root / "src" / "a").unlink()
    assert run(project).status is Status.NO_CHANGES
    assert ".execution_state" not in project.logs
    project.write({"src/a": "1"})
    assert run(project).status is Status.FAILED


def test_looking_at_less_does_not_end_the_session(repo):
    """A failure is not resolved by a run that looks at nothing."""
    project = gated(repo, c="command: exit 1\n")
    run(project)
    project.commit()
    assert run(project, wanted=WantedChanges(uncommitted=True)).status is Status.NO_CHANGES
    assert run(project, scope=Scope(gate="none")).status is Status.NO_APPLICABLE_GATES
    assert "check_src_c.1.log" in project.logs


# What passed before


def counted(repo, tmp_path):
    return gated(repo, c=f"command: echo run >> {tmp_path / 'count'}\n")


def runs(tmp_path):
    return len((tmp_path / "count").read_text().splitlines())


def test_unchanged_tree_is_not_run_again(repo, tmp_path):
    """A pass is remembered for its tree, committed or not, and for all worktrees."""
    project = counted(repo, tmp_path)
    first = run(project)
    second = run(project)
    assert (second.status, second.tree) == (Status.PASSED, first.tree)
    assert "unchanged since" in second.message
    project.commit()
    third = run(project)
    assert "unchanged since" in third.message
    assert third.tree == project.git("rev-parse", "HEAD^{tree}")
    other = GatedProject.__new__(GatedProject)
    other.root = tmp_path / "other"
    project.git("worktree", "add", "-q", "--detach", str(other.root))
    assert "unchanged since" in run(other).message
    assert runs(tmp_path) == 1


@pytest.mark.parametrize("change", ["file", "definition", "base"])
def test_any_difference_runs_again(repo, tmp_path, change):
    """Another file, another definition or another base is other work."""
    project = counted(repo, tmp_path)
    run(project)
    if change == "file":
        project.write({"src/b": "1"})
    elif change == "definition":
        project.write({".gauntlet/checks/c.yml": f"command: echo other >> {tmp_path / 'count'}\n"})
    else:
        project.git("update-ref", "refs/heads/main", project.git("commit-tree", "-m", "x", "main^{tree}", "-p", "main"))
        project.git("rebase", "-q", "--autostash", "main")
    assert run(project).status is Status.PASSED
    assert runs(tmp_path) == 2


def test_again_runs_again(repo, tmp_path):
    """A person can insist."""
    project = counted(repo, tmp_path)
    run(project)
    run(project, again=True)
    assert runs(tmp_path) == 2


def test_gate_that_changes_files_is_not_remembered(repo):
    """A pass of files that were changed meanwhile is a pass of nothing."""
    project = gated(repo, c="command: date +%N >> stamp\n")
    result = run(project)
    assert (result.status, result.tree) == (Status.PASSED, "")
    assert "Files changed while the gates ran: 'src/stamp'." in result.notes[-1]


def test_partial_run_is_no_pass_of_the_work(repo):
    """One gate by name, or checks alone, neither is remembered nor clears a failure."""
    config = "entry_points:\n  - path: src\n    checks: [a, b]\n"
    project = gated(repo, config, a="command: 'true'\n", b="command: exit 1\n")
    assert run(project).status is Status.FAILED
    assert run(project, scope=Scope(gate="a")).status is Status.PASSED
    assert "check_src_b.1.log" in project.logs
    assert run(project).status is Status.FAILED


# Trouble


TROUBLE = {
    "broken file": ({".gauntlet/config.yml": "a: ["}, "config.yml:1: is not valid YAML"),
    "dangling name": ({".gauntlet/config.yml": "entry_points:\n  - path: .\n    checks: [x]\n"}, "names the check `x`"),
}


@pytest.mark.parametrize(("files", "message"), TROUBLE.values(), ids=TROUBLE)
def test_unusable_configuration_is_said(project, files, message):
    """A configuration that cannot be used is an error with its place, not a pass."""
    project.write(files)
    result = run(project)
    assert result.status is Status.ERROR
    assert message in result.message


def test_missing_base_is_said(repo):
    """A base that is not here is replaced, and that is said."""
    project = gated(repo, c="command: exit 1\n")
    config = (project.root / ".gauntlet/config.yml").read_text().replace("base_branch: main", "base_branch: origin/x")
    project.write({".gauntlet/config.yml": config})
    result = run(project)
    assert result.status is Status.FAILED
    assert result.notes[0].startswith("The base branch origin/x does not exist here; main was used")


def test_log_directory_that_cannot_be_made(project):
    """A log directory that cannot be written is infrastructure."""
    project.write({"src/a": "1", "gauntlet_logs": "a file in its place"})
    assert run(project).status is Status.INFRASTRUCTURE_ERROR


def test_full_disk(repo):
    """A log that cannot be written is infrastructure, not a failure of the work."""
    project = gated(repo, c="command: exit 1\n")
    directory = project.root / "gauntlet_logs"
    write_files(directory, {".gitignore": MARK})
    (directory / "check_src_c.1.log").symlink_to("/dev/full")
    assert run(project).status is Status.INFRASTRUCTURE_ERROR


def test_empty_repository(tmp_path):
    """Before the first commit everything is new, and gates run on it."""
    root = tmp_path / "r"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    project = GatedProject.__new__(GatedProject)
    project.root = root
    project.write(
        {
            ".gauntlet/config.yml": "entry_points:\n  - path: .\n    checks: [c]\n",
            ".gauntlet/checks/c.yml": "command: exit 1\n",
        }
    )
    result = run(project)
    assert result.status is Status.FAILED
    assert list((root / ".git" / "refs" / "heads").iterdir()) == []


def test_shallow_clone(repo, tmp_path):
    """A clone whose history was cut off is compared with what is there."""
    project = gated(repo, c="command: exit 1\n")
    project.commit()
    project.git("checkout", "-q", "main")
    clone = GatedProject.__new__(GatedProject)
    clone.root = tmp_path / "clone"
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", "--branch", "work", f"file://{project.root}", str(clone.root)],
        check=True,
    )
    result = run(clone)
    assert result.status is Status.FAILED
    assert "everything counts as changed" in result.notes[0]


def test_submodule(repo, tmp_path):
    """A submodule that moved counts as a change, and gates run beside it."""
    inner = tmp_path / "inner"
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=inner, check=True)
    project = gated(repo, "entry_points:\n  - path: .\n    checks: [c]\n", c="command: exit 1\n")
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    assert run(project).status is Status.FAILED


def test_project_below_the_repositorys_root(repo):
    """A project in a part of a larger repository keeps its logs and its paths to itself."""
    project = gated(repo, c="command: 'true'\n")
    part = "entry_points:\n  - path: lib\n    checks: [c]\n"
    project.write(
        {
            "part/.gauntlet/config.yml": f"base_branch: main\n{part}",
            "part/.gauntlet/checks/c.yml": "command: pwd; exit 1\n",
            "part/lib/a": "1",
        }
    )
    result = execute_run(project.context(), project.root / "part")
    assert [one.id for one in result.failed] == ["check:lib:c"]
    assert f"{project.root}/part/lib\n" in result.failed[0].log.read_text()
    assert result.failed[0].log.parent == project.root / "part" / "gauntlet_logs"


def test_odd_paths(repo):
    """Names with spaces, quotes, newlines and other alphabets are work like any other."""
    config = 'entry_points:\n  - path: "s p/*"\n    checks: [c]\n'
    project = gated(repo, config, c="command: pwd; exit 1\n")
    project.write({"s p/ü'\"\n/a": "1", "s p/plain/x": "1"})
    assert {one.id for one in run(project).failed} == {"check:s p/ü'\"\n:c", "check:s p/plain:c"}


def test_a_wall_of_gates_that_hang(repo):
    """Gates that all hang are cut off together, at the run's limit."""
    names = [f"c{number}" for number in range(6)]
    config = f"entry_points:\n  - path: src\n    checks: [{', '.join(names)}]\n"
    project = gated(repo, config, **dict.fromkeys(names, "command: sleep 60\n"))
    result = run(project, deadline=time.monotonic() + 0.5)
    assert result.status is Status.INFRASTRUCTURE_ERROR
    assert len(result.broken) == 6
