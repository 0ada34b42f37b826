"""Every scenario of the stop hook's specification by its own name, and where it is tested or why it was given up."""

import ast
import functools
import json
import os
from pathlib import Path

import pytest
from support.gauntlet import GatedProject
from support.reviewers import Reviewer, finding

from agent_sync.events.exchange import parse
from agent_sync.gates.answer import gate
from agent_sync.gates.run.execute import execute_run
from agent_sync.gates.status import Status
from agent_sync.task.decision.facts import Trigger

GATE, VERDICT, CLEAN, COMMANDS = "test_gate.py", "test_verdict.py", "test_clean.py", "test_gauntlet_commands.py"
HERE = "test_specification.py"
SCENARIOS = {
    "Valid hook input": (GATE, "test_status_passed"),
    "Missing or invalid JSON": (GATE, "test_missing_or_invalid_json"),
    "stop_hook_active is true": (GATE, "test_stop_hook_active_is_true"),
    "stop_hook_active is false": (GATE, "test_status_failed"),
    "No gauntlet config exists": (GATE, "test_no_gauntlet_config_exists"),
    "Gauntlet config exists": (GATE, "test_status_passed"),
    "Direct function invocation": (HERE, "test_direct_function_invocation"),
    "Silent mode execution": (GATE, "test_status_failed"),
    "Gauntlet execution error": (GATE, "test_gauntlet_execution_error"),
    "Direct status usage": (HERE, "test_direct_status_usage"),
    "No status mapping": (HERE, "test_direct_status_usage"),
    "Blocking determination": (VERDICT, "test_only_real_failures_block"),
    "No process.exit in executor": (HERE, "test_no_exit_in_executor"),
    "RunResult contains metadata": (HERE, "test_run_result_contains_metadata"),
    "Status passed": (GATE, "test_status_passed"),
    "Status passed_with_warnings": (HERE, "test_status_passed_with_warnings"),
    "Status retry_limit_exceeded": (GATE, "test_status_retry_limit_exceeded"),
    "Status failed": (GATE, "test_status_failed"),
    "Block with reason": (GATE, "test_status_failed"),
    "Output format": (GATE, "test_status_failed"),
    "State file written on successful run": (GATE, "test_status_passed"),
    "State file written on failed run": (GATE, "test_status_failed"),
    "State file cleared on clean": (COMMANDS, "test_status_and_clean"),
    "Branch changed triggers auto-clean": (CLEAN, "test_branch_changed_triggers_auto_clean"),
    "Commit merged triggers auto-clean": (CLEAN, "test_commit_merged_triggers_auto_clean"),
    "No auto-clean when context unchanged": (CLEAN, "test_no_auto_clean_when_context_unchanged"),
    "No auto-clean when no state file": (CLEAN, "test_no_auto_clean_when_no_state_file"),
    "Global config with stop hook interval": (GATE, "test_global_config_with_stop_hook_interval"),
    "Global config missing": (GATE, "test_global_config_missing"),
    "Global config invalid": (COMMANDS, "test_global_config_invalid"),
    "Interval not elapsed - skip run": (COMMANDS, "test_interval_is_noted_on_stderr"),
    "Interval elapsed - run gauntlet": (GATE, "test_interval_elapsed"),
    "No execution state - run gauntlet": (GATE, "test_status_passed"),
    "Lock file exists - allow stop": (GATE, "test_lock_file_exists"),
    "Lock file does not exist - run gauntlet": (GATE, "test_status_failed"),
    "Stop reason includes console log path": (GATE, "test_stop_reason"),
    "Stop reason excludes manual re-run instruction": (GATE, "test_stop_reason"),
    "Stop reason includes urgent fix directive": (GATE, "test_stop_reason"),
    "Stop reason includes trust level": (GATE, "test_stop_reason"),
    "Stop reason includes violation handling": (GATE, "test_stop_reason"),
    "Stop reason includes termination conditions": (GATE, "test_stop_reason"),
    "Response structure": (GATE, "test_response_structure"),
    "Gauntlet passed (exit code 0)": (GATE, "test_status_passed"),
    "No applicable gates": (GATE, "test_no_applicable_gates"),
    "Run interval not elapsed": (GATE, "test_interval_not_elapsed"),
    "Lock file exists": (GATE, "test_lock_file_exists"),
    "Infrastructure error": (GATE, "test_infrastructure_error"),
    "No gauntlet configuration": (GATE, "test_no_gauntlet_config_exists"),
    "Stop hook already active": (GATE, "test_stop_hook_active_is_true"),
    "Unexpected error": (GATE, "test_unexpected_error"),
    "Invalid hook input": (GATE, "test_missing_or_invalid_json"),
    "Gates failed - block": (GATE, "test_status_failed"),
}
NO_TEXT_IS_READ = "the gates are called directly and return their status; no exit code and no printed phrase is read"
# Scenarios that were given up, and parts of those above that are done otherwise.
OVERTURNED = {
    "Status precedence order": NO_TEXT_IS_READ,
    "Termination condition - passed (non-zero exit)": NO_TEXT_IS_READ,
    "Termination condition - passed with warnings (non-zero exit)": NO_TEXT_IS_READ,
    "Termination condition - retry limit exceeded (non-zero exit)": NO_TEXT_IS_READ,
    "Interval not elapsed - skip run: empty stdout": "every outcome is one JSON line; silence means a broken hook",
    "stop_hook_active is true: in on-stop": "a stop after a block is verified while retries remain, as its text says",
    "Lock file exists - allow stop: by existing": "a killed run must not disable the gate; a lock counts while alive",
    "State file written: every run": "only when gates ran, or doing nothing would throttle a real run",
    "State file cleared on clean: after a pass": "cleaning after a pass keeps it; the interval is measured from it",
    "Commit merged: of every commit": "on a branch without commits of its own HEAD is in the base from the start",
}
COUNT = 56


def test_every_scenario_has_a_row():
    """No scenario is left out: it has a test, or a reason why it was given up as a whole."""
    given_up = {name for name in OVERTURNED if ":" not in name}
    assert not given_up & set(SCENARIOS)
    assert len(SCENARIOS) + len(given_up) == COUNT


@pytest.mark.parametrize(("file", "test"), SCENARIOS.values(), ids=SCENARIOS)
def test_scenario(file, test):
    """The scenario has its test."""
    assert test in functions_in(file)


@functools.cache
def functions_in(file):
    """Return the names of all functions of a file beside this one."""
    tree = ast.parse((Path(__file__).parent / file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def stop(project, **variables):
    event = parse(Trigger.STOP, json.dumps({"cwd": str(project.root), "session_id": "s"}).encode())
    return gate(project.context(**variables), event, deadline=60)


@pytest.fixture
def failing(repo):
    """A project whose only check fails on the work done."""
    project = GatedProject(repo, ok="command: echo broken; exit 1\n")
    project.write({"src/a": "1"})
    return project


def test_direct_function_invocation(failing):
    """The hook runs the gates in its own process: the run's lock named this one."""
    failing.write({".gauntlet/checks/ok.yml": "command: cat ../gauntlet_logs/.gauntlet-run.lock; exit 1\n"})
    reply = stop(failing)
    assert reply.status is Status.FAILED
    assert f"text\n{os.getpid()}\n" in reply.reason


def test_direct_status_usage(failing):
    """The reply's status is the executor's own value."""
    result = execute_run(failing.context(), failing.root)
    reply = stop(failing)
    assert type(reply.status) is type(result.status) is Status
    assert (reply.status, reply.values()["status"]) == (result.status, result.status.value)


def test_no_exit_in_executor(failing):
    """Whatever comes of a run, it returns."""
    assert execute_run(failing.context(), failing.root).status is Status.FAILED
    failing.write({".gauntlet/config.yml": "a: ["})
    assert execute_run(failing.context(), failing.root).status is Status.ERROR


def test_run_result_contains_metadata(failing):
    """A result has status, message, the newest console log and, in trouble, the details."""
    result = execute_run(failing.context(), failing.root)
    assert (result.status, result.message) == (Status.FAILED, "1 of 1 gate failed: ok (check in src).")
    assert result.console_log == failing.root / "gauntlet_logs" / "console.1.log"
    assert result.console_log.is_file()
    assert result.error == ""
    failing.write({".gauntlet/config.yml": "a: ["})
    result = execute_run(failing.context(), failing.root)
    assert (result.status, result.console_log) == (Status.ERROR, None)
    assert "config.yml:" in result.error


def test_status_passed_with_warnings(repo, tmp_path):
    """Findings that were skipped on purpose let the stop end, and the message counts them."""
    reviewer = Reviewer(tmp_path / "reviewers", "claude")
    reviewer.answers({"status": "fail", "violations": [finding()]})
    config = "cli:\n  default_preference: [claude]\nentry_points:\n  - path: src\n    reviews: [quality]\n"
    project = GatedProject(repo, config)
    project.write({".gauntlet/reviews/quality.md": "Look well.\n", "src/a": "one\n"})
    path = f"{reviewer.bin}:/usr/bin:/bin"
    blocked = stop(project, PATH=path)
    assert blocked.decision == "block"
    assert "src/a:1 This divides by zero" in blocked.reason
    file = next((project.root / "gauntlet_logs").glob("review_*.json"))
    values = json.loads(file.read_text())
    values["violations"][0] |= {"status": "skipped", "result": "intended"}
    file.write_text(json.dumps(values))
    reply = stop(project, PATH=path)
    assert (reply.decision, reply.status) == ("approve", "passed_with_warnings")
    assert reply.message == "1 gate passed; 1 finding skipped."
    assert "intended" in reply.summary
