import pytest

from agent_sync.task.decision.checks import CI, Bucket, Check, verdict

S = "SUCCESS"


@pytest.mark.parametrize(
    ("result", "bucket"),
    [
        (S, Bucket.PASSED),
        ("SKIPPED", Bucket.PASSED),
        ("NEUTRAL", Bucket.PASSED),
        ("FAILURE", Bucket.FAILED),
        ("ERROR", Bucket.FAILED),
        ("CANCELLED", Bucket.FAILED),
        ("TIMED_OUT", Bucket.FAILED),
        ("ACTION_REQUIRED", Bucket.FAILED),
        ("STARTUP_FAILURE", Bucket.FAILED),
        ("STALE", Bucket.FAILED),
        ("QUEUED", Bucket.PENDING),
        ("EXPECTED", Bucket.PENDING),
        ("", Bucket.PENDING),
        ("INVENTED_IN_2031", Bucket.PENDING),
    ],
)
def test_every_word_has_its_bucket(result, bucket):
    """Words of today count as GitHub counts them; words of tomorrow are never a pass."""
    assert bucket is Check("x", result).bucket


@pytest.mark.parametrize(
    ("checks", "ci", "numbers"),
    [
        pytest.param([], CI.NONE, (0, 0, 0), id="none is its own state, never green"),
        pytest.param(None, CI.UNAVAILABLE, (0, 0, 0), id="cannot be seen"),
        pytest.param([Check("a", S), Check("b", "SKIPPED")], CI.GREEN, (2, 0, 0), id="green"),
        pytest.param([Check("a", S), Check("b", "QUEUED")], CI.RUNNING, (1, 0, 1), id="running"),
        pytest.param([Check("a", "FAILURE"), Check("b", "QUEUED")], CI.FAILED, (0, 1, 1), id="failed while running"),
        pytest.param([Check("password-check", "FAILURE")], CI.FAILED, (0, 1, 0), id="a name is not a result"),
        pytest.param(
            [Check("a", "FAILURE", "w", "1"), Check("a", S, "w", "2")], CI.GREEN, (1, 0, 0), id="the rerun counts"
        ),
        pytest.param(
            [Check("a", S, "w", "2"), Check("a", "FAILURE", "w", "1")], CI.GREEN, (1, 0, 0), id="in any order"
        ),
        pytest.param(
            [Check("a", S, "w1"), Check("a", "FAILURE", "w2")], CI.FAILED, (1, 1, 0), id="same name, other workflow"
        ),
    ],
)
def test_verdict(checks, ci, numbers):
    """All checks of one commit make one verdict."""
    seen = verdict("sha", checks)
    assert (ci, numbers) == (seen.ci, (seen.passed, len(seen.failed), seen.running))
