"""Check runs and commit statuses."""

from agent_sync.emulator.exchange import Answer, json_answer
from agent_sync.emulator.operations import checks
from agent_sync.emulator.operations.check_suites import latest_of, runs_on
from agent_sync.emulator.rest.call import Call
from agent_sync.emulator.rest.repositories import LAST_ROUTES, REPO, resolved
from agent_sync.emulator.rest.shapes.checks import (
    annotation_shape,
    check_shape,
    combined_status,
    status_shape,
    suite_shape,
)
from agent_sync.emulator.rest.shapes.pulls import simple_pull
from agent_sync.emulator.world.checks import CheckRun, WorkflowRun
from agent_sync.emulator.world.refusal import not_found

COMMIT = f"{REPO}/commits/{{ref:path}}"


def check_of(call: Call, name: str) -> CheckRun:
    """Return the check run (or job: they share their number) that the path names."""
    number = call.number(name)
    for found in call.repository.checks.values():
        for check in found:
            if check.identity.number == number:
                return check
    raise not_found()


def list_checks(call: Call) -> Answer:
    """Answer the checks of a commit: the newest of each name unless all are asked for."""
    sha, query = resolved(call, call.params["ref"]), call.asked.query
    found = checks.latest_checks(call.repository, sha)
    if query.get("filter") == "all":
        found = call.repository.checks.get(sha, [])
    wanted = [
        check
        for check in found
        if query.get("check_name", check.name) == check.name and query.get("status", check.status) == check.status
    ]
    shown, links = call.slice(wanted)
    runs = [check_shape(call.links, check) for check in shown]
    return json_answer(200, {"total_count": len(wanted), "check_runs": runs}, **links)


def get_check(call: Call) -> Answer:
    """Answer one check run."""
    return json_answer(200, check_shape(call.links, check_of(call, "check_run_id")))


def annotations(call: Call) -> Answer:
    """Answer what a check says about lines of the change."""
    check = check_of(call, "check_run_id")
    return call.page(check.annotations, lambda entry: annotation_shape(call.links, check, entry))


def _suite(call: Call) -> WorkflowRun:
    number = call.number("check_suite_id")
    for run in call.repository.runs:
        if run.suite.number == number:
            return run
    raise not_found()


def suites(call: Call) -> Answer:
    """Answer the suites of a commit, those without a check among them."""
    found = runs_on(call.repository, resolved(call, call.params["ref"]))
    shown, links = call.slice(found)
    return json_answer(
        200, {"total_count": len(found), "check_suites": [suite_shape(call.links, run) for run in shown]}, **links
    )


def get_suite(call: Call) -> Answer:
    """Answer one suite."""
    return json_answer(200, suite_shape(call.links, _suite(call)))


def suite_checks(call: Call) -> Answer:
    """Answer the newest checks of a suite."""
    found = latest_of(_suite(call))
    shown, links = call.slice(found)
    checks_shown = [check_shape(call.links, check) for check in shown]
    return json_answer(200, {"total_count": len(found), "check_runs": checks_shown}, **links)


def create_check(call: Call) -> Answer:
    """Report a check."""
    conclusion, output = call.optional_text("CheckRun", "conclusion"), call.body.get("output") or {}
    new = checks.NewCheck(
        name=call.text("CheckRun", "name"),
        status=call.optional_text("CheckRun", "status") or ("completed" if conclusion else "queued"),
        conclusion=conclusion, details_url=call.optional_text("CheckRun", "details_url"),
        external_id=call.optional_text("CheckRun", "external_id") or "", title=output.get("title"),
        summary=output.get("summary"), text=output.get("text"),
    )  # fmt: skip
    sha = call.text("CheckRun", "head_sha")
    return json_answer(
        201, check_shape(call.links, checks.add_check(call.world, call.viewer, call.repository, sha, new))
    )


def update_check(call: Call) -> Answer:
    """Change how far a check has come."""
    check = check_of(call, "check_run_id")
    status, conclusion = (
        call.optional_text("CheckRun", "status"),
        call.optional_text("CheckRun", "conclusion"),
    )
    checks.update_check(call.world, call.viewer, check, status=status, conclusion=conclusion)
    return json_answer(200, check_shape(call.links, check))


def combined(call: Call) -> Answer:
    """Answer the statuses of a commit as one."""
    return json_answer(200, combined_status(call.links, call.repository, resolved(call, call.params["ref"])))


def statuses(call: Call) -> Answer:
    """Answer every status of a commit, newest first."""
    found = call.repository.statuses.get(resolved(call, call.params["ref"]), [])
    return call.page(found[::-1], lambda status: status_shape(call.links, status))


def create_status(call: Call) -> Answer:
    """Post a status to a commit."""
    status = checks.add_status(
        call.world, call.viewer, call.repository, call.params["sha"], state=call.text("Status", "state"),
        context=call.optional_text("Status", "context") or "default",
        description=call.optional_text("Status", "description"),
        target_url=call.optional_text("Status", "target_url"),
    )  # fmt: skip
    return json_answer(201, status_shape(call.links, status))


def pulls_with(call: Call) -> Answer:
    """Answer the pull requests a commit is part of."""
    sha, git = resolved(call, call.params["ref"]), call.repository.git
    found = [
        pull for pull in call.repository.pulls
        if pull.head_sha == sha or sha in git.commits_between(pull.base_sha, pull.head_sha)
    ]  # fmt: skip
    return call.page(found, lambda pull: simple_pull(call.links, pull))


ROUTES = (
    ("GET", f"{COMMIT}/pulls", "repos/list-pull-requests-associated-with-commit", pulls_with),
    ("GET", f"{COMMIT}/check-runs", "checks/list-for-ref", list_checks),
    ("GET", f"{COMMIT}/check-suites", "checks/list-suites-for-ref", suites),
    ("GET", f"{REPO}/check-suites/{{check_suite_id}}", "checks/get-suite", get_suite),
    ("GET", f"{REPO}/check-suites/{{check_suite_id}}/check-runs", "checks/list-for-suite", suite_checks),
    ("GET", f"{REPO}/check-runs/{{check_run_id}}/annotations", "checks/list-annotations", annotations),
    ("GET", f"{COMMIT}/status", "repos/get-combined-status-for-ref", combined),
    ("GET", f"{COMMIT}/statuses", "repos/list-commit-statuses-for-ref", statuses),
    ("POST", f"{REPO}/statuses/{{sha}}", "repos/create-commit-status", create_status),
    ("POST", f"{REPO}/check-runs", "checks/create", create_check),
    ("GET", f"{REPO}/check-runs/{{check_run_id}}", "checks/get", get_check),
    ("PATCH", f"{REPO}/check-runs/{{check_run_id}}", "checks/update", update_check),
    *LAST_ROUTES,
)
