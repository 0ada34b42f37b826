"""The verdict over CI: every word, every state, and how what was reported is folded."""

import pytest

from agent_sync.task.decision.feedback.checks import BUCKETS, CI, Bucket, CheckRun, Reported, WorkflowRun, verdict

S, F = "SUCCESS", "FAILURE"
WORDS = {
    **dict.fromkeys((S, "SKIPPED", "NEUTRAL"), Bucket.PASSED),
    **dict.fromkeys(
        (F, "ERROR", "CANCELLED", "TIMED_OUT", "ACTION_REQUIRED", "STARTUP_FAILURE", "STALE"), Bucket.FAILED
    ),
    **dict.fromkeys(
        ("QUEUED", "IN_PROGRESS", "WAITING", "REQUESTED", "PENDING", "EXPECTED", "", "INVENTED_IN_2031"), Bucket.PENDING
    ),
}


@pytest.mark.parametrize(("result", "bucket"), WORDS.items())
def test_every_word_has_its_bucket(result, bucket):
    """Words of today count as GitHub counts them; words of tomorrow are never a pass."""
    assert bucket is CheckRun("x", result).bucket
    assert set(BUCKETS) <= set(WORDS)


@pytest.mark.parametrize(("result", "bucket"), WORDS.items())
def test_one_check_of_each_word(result, bucket):
    """A single check decides the verdict by its bucket."""
    expected = {Bucket.PASSED: CI.GREEN, Bucket.FAILED: CI.FAILED, Bucket.PENDING: CI.RUNNING}[bucket]
    assert verdict("sha", Reported((CheckRun("x", result),))).ci is expected


def run(result="", workflow="CI", event="pull_request", created="1"):
    """Return a workflow run with an address."""
    return WorkflowRun(workflow, event, result, f"https://github.com/r/{workflow}", created)


def check(name, result, workflow="CI", event="pull_request", started="1"):
    """Return a check of a workflow."""
    return CheckRun(name, result, workflow, started, event)


GREEN = check("a", S)
TABLE = {
    "cannot be seen": (Reported(None), CI.UNAVAILABLE, (0, 0, 0)),
    "cannot be seen, whatever runs": (Reported(None, (run(),)), CI.UNAVAILABLE, (0, 0, 0)),
    "not started yet, never green": (Reported(()), CI.NONE, (0, 0, 0)),
    "no CI configured": (Reported((), is_configured=False), CI.ABSENT, (0, 0, 0)),
    "not configured, but required": (Reported((), required=("ci",), is_configured=False), CI.NONE, (0, 0, 0)),
    "a status without workflows": (Reported((CheckRun("ext", S),), is_configured=False), CI.GREEN, (1, 0, 0)),
    "green": (Reported((GREEN, check("b", "SKIPPED"))), CI.GREEN, (2, 0, 0)),
    "running": (Reported((GREEN, check("b", "QUEUED"))), CI.RUNNING, (1, 0, 1)),
    "failed while running": (Reported((check("a", F), check("b", "QUEUED"))), CI.FAILED, (0, 1, 1)),
    "a name is not a result": (Reported((check("password-check", F),)), CI.FAILED, (0, 1, 0)),
    "the rerun counts": (Reported((check("a", F), check("a", S, started="2"))), CI.GREEN, (1, 0, 0)),
    "in any order": (Reported((check("a", S, started="2"), check("a", F))), CI.GREEN, (1, 0, 0)),
    "a queued rerun is running": (Reported((check("a", F), check("a", "QUEUED", started=""))), CI.RUNNING, (0, 0, 1)),
    "a queued rerun, listed first": (
        Reported((check("a", "QUEUED", started=""), check("a", F))),
        CI.RUNNING,
        (0, 0, 1),
    ),
    "same name, other workflow": (Reported((check("a", S, "w1"), check("a", F, "w2"))), CI.FAILED, (1, 1, 0)),
    "same workflow, other event": (
        Reported((check("build", F, event="push"), check("build", S, started="2"))),
        CI.FAILED,
        (1, 1, 0),
    ),
    "a run without a check": (Reported((CheckRun("cla", S),), (run(),)), CI.RUNNING, (1, 0, 1)),
    "only a run": (Reported((), (run(),)), CI.RUNNING, (0, 0, 1)),
    "a run whose next job waits": (Reported((GREEN,), (run("IN_PROGRESS"),)), CI.RUNNING, (1, 0, 1)),
    "a run whose job is seen": (Reported((check("a", "QUEUED"),), (run(),)), CI.RUNNING, (0, 0, 1)),
    "a run for another event": (Reported((GREEN,), (run("SUCCESS"), run(event="push"))), CI.RUNNING, (1, 0, 1)),
    "finished runs": (Reported((GREEN,), (run("SUCCESS"), run("SKIPPED", "other"))), CI.GREEN, (1, 0, 0)),
    "a run that could not start": (Reported((GREEN,), (run("STARTUP_FAILURE", "bad"),)), CI.FAILED, (1, 1, 0)),
    "a newer run of the same": (
        Reported((GREEN,), (run("CANCELLED", "late"), run("SUCCESS", "late", created="2"))),
        CI.GREEN,
        (1, 0, 0),
    ),
    "waits for approval": (Reported((), (run("ACTION_REQUIRED"),)), CI.APPROVAL, (0, 0, 0)),
    "waits for approval beside a green one": (
        Reported((CheckRun("cla", S),), (run("ACTION_REQUIRED"),)),
        CI.APPROVAL,
        (1, 0, 0),
    ),
    "approved since": (
        Reported((), (run("ACTION_REQUIRED"), run(created="2"))),
        CI.RUNNING,
        (0, 0, 1),
    ),
    "failed, and waits for approval": (
        Reported((check("a", F),), (run("ACTION_REQUIRED", "w2"),)),
        CI.FAILED,
        (0, 1, 0),
    ),
    "required and missing": (Reported((GREEN,), required=("a", "e2e")), CI.MISSING, (1, 0, 0)),
    "required and missing while others run": (
        Reported((GREEN, check("b", "QUEUED")), required=("e2e",)),
        CI.RUNNING,
        (1, 0, 1),
    ),
    "required and failed": (Reported((check("a", F),), required=("a", "e2e")), CI.FAILED, (0, 1, 0)),
    "required and there": (Reported((GREEN,), required=("a",)), CI.GREEN, (1, 0, 0)),
    "a required status": (Reported((CheckRun("ext", "PENDING"),), required=("ext",)), CI.RUNNING, (0, 0, 1)),
}


@pytest.mark.parametrize(("reported", "ci", "numbers"), TABLE.values(), ids=TABLE)
def test_verdict(reported, ci, numbers):
    """All that is reported on one commit makes one verdict, which is bound to the commit."""
    seen = verdict("sha", reported)
    assert (ci, numbers) == (seen.ci, (seen.passed, len(seen.failed), seen.running))
    assert seen.sha == "sha"


def test_every_state_is_in_the_table():
    """No state of CI is left untried."""
    assert {ci for _, ci, _ in TABLE.values()} == set(CI)


def test_what_is_missing_and_where_to_approve_is_named():
    """Required checks are named, and the address of a run that waits for approval is kept."""
    assert verdict("sha", Reported((GREEN,), required=("z", "e2e", "a"))).missing == ("e2e", "z")
    assert verdict("sha", Reported((), (run("ACTION_REQUIRED"),))).approval_url == "https://github.com/r/CI"
