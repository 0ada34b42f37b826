"""Continuous integration as it really is: runs without checks, twins, approvals, steps, annotations."""

import pytest

REPO = "/repos/octo/demo"
SUITES = """query($number: Int!) { repository(owner: "octo", name: "demo") { pullRequest(number: $number) {
  mergeStateStatus reviewDecision
  statusCheckRollup { state contexts(first: 20) { nodes { ... on CheckRun {
    name status conclusion startedAt annotations(first: 5) { nodes { path message annotationLevel
      location { start { line } } } }
    steps(first: 9) { nodes { name number conclusion } }
    checkSuite { workflowRun { event workflow { name } } } } } } }
  commits(last: 1) { nodes { commit { checkSuites(first: 20) { nodes {
    status conclusion app { slug } workflowRun { event url runAttempt } checkRuns(first: 1) { totalCount } } } } } }
} } }"""


@pytest.fixture
def pull(client):
    return client.opened_pull()


def seen(client, number):
    """Return what GraphQL says of a pull request."""
    answer = client.post("/graphql", {"query": SUITES, "variables": {"number": number}}).json()
    assert "errors" not in answer, answer
    return answer["data"]["repository"]["pullRequest"]


def suites(client, number):
    """Return the suites of a pull request's head."""
    return seen(client, number)["commits"]["nodes"][0]["commit"]["checkSuites"]["nodes"]


def contexts(client, number):
    """Return the checks of a pull request's head."""
    return seen(client, number)["statusCheckRollup"]["contexts"]["nodes"]


def test_a_queued_run_has_no_check(client, pull):
    """A workflow run exists before its first check, and until it is done the suite is not complete."""
    client.act("add_run", pull=pull, workflow="E2E", event="push")
    client.act("add_check", pull=pull, name="cla", conclusion="success", workflow="CLA")
    queued, done = suites(client, pull)
    assert (queued["status"], queued["checkRuns"]["totalCount"], queued["workflowRun"]["event"]) == (
        "QUEUED", 0, "push",
    )  # fmt: skip
    assert (done["status"], done["conclusion"]) == ("COMPLETED", "SUCCESS")
    client.act("add_check", pull=pull, name="browser", conclusion="success", workflow="E2E")
    assert suites(client, pull)[0]["status"] == "IN_PROGRESS"
    client.act("complete_run", pull=pull, workflow="E2E")
    assert suites(client, pull)[0]["conclusion"] == "SUCCESS"


def test_suites_of_other_applications_may_stay_queued(client, pull):
    """An application that reports nothing leaves a queued suite without a workflow run behind."""
    client.act("add_run", pull=pull, app="renovate")
    (suite,) = suites(client, pull)
    assert (suite["app"]["slug"], suite["workflowRun"], suite["status"]) == ("renovate", None, "QUEUED")
    assert client.read(f"{REPO}/actions/runs")["total_count"] == 0
    sha = client.pull(pull)["head_sha"]
    assert client.read(f"{REPO}/commits/{sha}/check-suites")["check_suites"][0]["app"]["slug"] == "renovate"


def test_a_run_waits_for_approval(client, pull):
    """A run that needs approval is complete with a conclusion of its own; approved, it is queued."""
    run = client.act("add_run", pull=pull, conclusion="action_required")["id"]
    (suite,) = suites(client, pull)
    assert (suite["status"], suite["conclusion"]) == ("COMPLETED", "ACTION_REQUIRED")
    assert suite["workflowRun"]["url"].endswith(f"/octo/demo/actions/runs/{run}")
    assert client.post(f"{REPO}/actions/runs/{run}/approve", {}).status_code == 201
    assert suites(client, pull)[0]["status"] == "QUEUED"
    assert client.post(f"{REPO}/actions/runs/{run}/approve", {}).status_code == 403


def test_twins_of_two_events_are_both_shown(client, pull):
    """The same name from two events is two checks, and one that fails keeps the sum red."""
    client.act("add_check", pull=pull, name="build", conclusion="failure", workflow="CI", event="push")
    client.act("add_check", pull=pull, name="build", conclusion="success", workflow="CI", event="pull_request")
    found = contexts(client, pull)
    assert {entry["checkSuite"]["workflowRun"]["event"] for entry in found} == {"push", "pull_request"}
    assert seen(client, pull)["statusCheckRollup"]["state"] == "FAILURE"
    client.act("require_checks", names=["build"])
    assert seen(client, pull)["mergeStateStatus"] == "BLOCKED"


def test_a_queued_rerun_has_not_started(client, pull):
    """Run again, a check is queued, without a start, and takes the place of the failed one."""
    client.act("add_check", pull=pull, name="build", conclusion="failure")
    client.act("rerun_check", pull=pull, name="build")
    (check,) = contexts(client, pull)
    assert (check["status"], check["startedAt"], check["conclusion"]) == ("QUEUED", None, None)
    (suite,) = suites(client, pull)
    assert (suite["status"], suite["workflowRun"]["runAttempt"]) == ("QUEUED", 2)
    client.act("complete_check", pull=pull, name="build", conclusion="success")
    assert contexts(client, pull)[0]["startedAt"]


def test_the_failing_step_and_its_log(client, pull):
    """A job has steps, a log in their order, and annotations."""
    steps = [
        {"name": "Set up", "conclusion": "success", "log": "ready"},
        {"name": "Test", "conclusion": "failure", "log": "1 failed\nE assert 1 == 2"},
        {"name": "Upload", "conclusion": "skipped"},
    ]
    remarks = [{"path": "cache.py", "line": 7, "message": "assert 1 == 2"}]
    job = client.act(
        "add_check", pull=pull, name="test", conclusion="failure", steps=steps, annotations=remarks
    )["id"]  # fmt: skip
    shown = client.read(f"{REPO}/actions/jobs/{job}")["steps"]
    assert [(step["number"], step["conclusion"]) for step in shown] == [(1, "success"), (2, "failure"), (3, "skipped")]
    log = client.call("GET", f"{REPO}/actions/jobs/{job}/logs", follow_redirects=True).text
    assert log.index("##[group]Run Set up") < log.index("E assert 1 == 2") < log.index("##[error]Process completed")
    (remark,) = client.read(f"{REPO}/check-runs/{job}/annotations")
    assert (remark["path"], remark["start_line"], remark["annotation_level"]) == ("cache.py", 7, "failure")
    (check,) = contexts(client, pull)
    assert check["annotations"]["nodes"][0]["location"]["start"]["line"] == 7
    assert check["steps"]["nodes"][1] == {"name": "Test", "number": 2, "conclusion": "FAILURE"}


def test_required_and_never_reported(client, pull):
    """A required check that nothing reports blocks the merge while everything else is green."""
    client.act("add_check", pull=pull, name="lint", conclusion="success")
    client.act("require_checks", names=["lint", "e2e"])
    assert seen(client, pull)["mergeStateStatus"] == "BLOCKED"
    answer = client.call("PUT", f"{REPO}/pulls/{pull}/merge", json={})
    assert answer.json()["message"] == 'Required status check "e2e" is expected.'
    client.act("require_checks", names=["lint"])
    assert seen(client, pull)["mergeStateStatus"] == "CLEAN"


def test_words_that_are_none(client, pull):
    """Unknown statuses, conclusions, steps and runs are refused by the control interface."""
    assert "the status is one of" in client.refused_act("add_run", pull=pull, status="odd")
    assert "a step needs a name" in client.refused_act("add_check", pull=pull, name="x", steps=[{}])
    assert "an annotation needs" in client.refused_act("add_check", pull=pull, name="x", annotations=[{}])
    assert "no such workflow run" in client.refused_act("complete_run", pull=pull)
    assert "there is no commit" in client.refused_act("add_run", sha="1" * 40)
