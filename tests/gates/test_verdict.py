"""The order of reasons not to run, each as a row."""

import pytest

from agent_sync.gates.status import OPENS_PULL, Status, exit_status, is_blocking
from agent_sync.gates.verdict import Stop, verdict
from agent_sync.quiet.wording import duration

ROWS = {
    "everything in order: run": (Stop(), None),
    "input that cannot be parsed comes first": (Stop(is_readable=False, is_active=True), Status.INVALID_INPUT),
    "active flag approves at once": (Stop(is_active=True, has_config=False), Status.STOP_HOOK_ACTIVE),
    "active flag false proceeds": (Stop(is_active=False), None),
    "active flag, but a pass is needed": (Stop(is_active=True, needs_pass=True), None),
    "active flag, but verifying is asked for": (Stop(is_active=True, verify_active=True), None),
    "nested marker": (Stop(is_nested=True, has_config=False), Status.STOP_HOOK_ACTIVE),
    "nested marker even if a pass is needed": (Stop(is_nested=True, needs_pass=True), Status.STOP_HOOK_ACTIVE),
    "no configuration": (Stop(has_config=False, is_enabled=False), Status.NO_CONFIG),
    "disabled": (Stop(is_enabled=False, lock_holder="process 1"), Status.STOP_HOOK_DISABLED),
    "subagents at work": (Stop(subagents=2, lock_holder="process 1"), Status.LOCK_EXISTS),
    "lock held": (Stop(lock_holder="process 1", seconds_left=60), Status.LOCK_EXISTS),
    "interval not elapsed": (Stop(seconds_left=60), Status.INTERVAL_NOT_ELAPSED),
    "interval elapsed": (Stop(seconds_left=0), None),
    "interval, but failures are unresolved": (Stop(seconds_left=60, has_unresolved=True), None),
    "interval, but a pass is needed": (Stop(seconds_left=60, needs_pass=True), None),
}


@pytest.mark.parametrize(("stop", "expected"), ROWS.values(), ids=ROWS)
def test_verdict(stop, expected):
    """Each situation has its status, and the earlier reason wins."""
    found = verdict(stop)
    assert (found.status if found else None) == expected
    assert found is None or found.message


MESSAGES = {
    Status.INVALID_INPUT: (Stop(is_readable=False), "could not be parsed"),
    Status.STOP_HOOK_ACTIVE: (Stop(is_active=True), "prevent a loop"),
    Status.NO_CONFIG: (Stop(has_config=False), "Not a gauntlet project"),
    Status.STOP_HOOK_DISABLED: (Stop(is_enabled=False), "disabled"),
    Status.LOCK_EXISTS: (Stop(lock_holder="process 7"), "already in progress (process 7)"),
    Status.INTERVAL_NOT_ELAPSED: (Stop(seconds_left=299.5), "5 min 0 s remain"),
}


@pytest.mark.parametrize(("stop", "words"), MESSAGES.values(), ids=MESSAGES)
def test_messages(stop, words):
    """Every quick answer says why."""
    found = verdict(stop)
    assert found
    assert words in found.message


@pytest.mark.parametrize("status", Status)
def test_only_real_failures_block(status):
    """One shared rule decides about blocking, and only `failed` does."""
    assert is_blocking(status) is (status is Status.FAILED)


def test_statuses():
    """The names are part of the protocol."""
    assert {status.value for status in Status} == {
        "passed", "passed_with_warnings", "no_applicable_gates", "no_changes", "failed", "retry_limit_exceeded",
        "lock_exists", "interval_not_elapsed", "no_config", "stop_hook_active", "stop_hook_disabled", "invalid_input",
        "infrastructure_error", "error",
    }  # fmt: skip


def test_exit_codes_and_pull_requests():
    """Commands fail where gates did not pass; pull requests follow what passed or was never asked for."""
    assert {status for status in Status if exit_status(status) == 0} == {
        Status.PASSED,
        Status.PASSED_WITH_WARNINGS,
        Status.NO_APPLICABLE_GATES,
        Status.NO_CHANGES,
    }
    assert {Status.NO_CONFIG, Status.STOP_HOOK_DISABLED, Status.PASSED} <= OPENS_PULL
    assert not OPENS_PULL & {Status.FAILED, Status.RETRY_LIMIT_EXCEEDED, Status.LOCK_EXISTS, Status.ERROR}


def test_spoken_times():
    """Times are said as people say them."""
    assert [duration(seconds) for seconds in (0.2, 59, 61)] == ["1 s", "59 s", "1 min 1 s"]
