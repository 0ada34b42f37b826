"""Workflow runs and jobs, their logs, and running them again."""

from agent_sync.emulator.exchange import Answer, json_answer, text_answer
from agent_sync.emulator.operations import check_suites, checks
from agent_sync.emulator.operations.check_suites import PASSING
from agent_sync.emulator.rest.call import Call
from agent_sync.emulator.rest.checks import check_of
from agent_sync.emulator.rest.repositories import REPO
from agent_sync.emulator.rest.shapes.checks import job_shape, run_shape
from agent_sync.emulator.rest.shapes.repositories import api_url
from agent_sync.emulator.world.checks import WorkflowRun
from agent_sync.emulator.world.refusal import Kind, Refused, not_found

JOB = f"{REPO}/actions/jobs/{{job_id}}"
RUN = f"{REPO}/actions/runs/{{run_id}}"


def _run(call: Call) -> WorkflowRun:
    number = call.number("run_id")
    for run in call.repository.runs:
        if run.identity.number == number:
            return run
    raise not_found()


def runs(call: Call) -> Answer:
    """Answer the workflow runs, newest first."""
    query = call.asked.query
    found = [
        run
        for run in reversed(call.repository.runs)
        if run.is_workflow and query.get("branch") in {None, run.branch} and query.get("head_sha", run.sha) == run.sha
    ]
    shown, links = call.slice(found)
    return json_answer(
        200,
        {"total_count": len(found), "workflow_runs": [run_shape(call.links, run) for run in shown]},
        **links,
    )


def run(call: Call) -> Answer:
    """Answer one workflow run."""
    return json_answer(200, run_shape(call.links, _run(call)))


def jobs(call: Call) -> Answer:
    """Answer the jobs of a run: those of the latest attempt unless all are asked for."""
    found = _run(call).checks
    if call.asked.query.get("filter", "latest") == "latest":
        found = list({check.name: check for check in found}.values())
    shown, links = call.slice(found)
    return json_answer(200, {"total_count": len(found), "jobs": [job_shape(call.links, job) for job in shown]}, **links)


def job(call: Call) -> Answer:
    """Answer one job."""
    return json_answer(200, job_shape(call.links, check_of(call, "job_id")))


def job_logs(call: Call) -> Answer:
    """Lead to where the log of a job can be downloaded."""
    check = check_of(call, "job_id")
    if check.status != "completed":
        raise not_found()
    place = f"{api_url(call.links, call.repository)}/actions/jobs/{check.identity.number}/logs/download"
    return Answer(302, headers={"location": place})


def download_log(call: Call) -> Answer:
    """Answer the text of a log."""
    return text_answer(200, checks.job_log(check_of(call, "job_id")))


def rerun_job(call: Call) -> Answer:
    """Run one job again."""
    checks.rerun(call.world, call.viewer, check_of(call, "job_id"))
    return json_answer(201, {})


def rerun_run(call: Call) -> Answer:
    """Run every job of a run again."""
    for check in list({check.name: check for check in _run(call).checks}.values()):
        checks.rerun(call.world, call.viewer, check)
    return json_answer(201, {})


def approve(call: Call) -> Answer:
    """Let a run start that has waited for approval."""
    check_suites.approve_run(call.viewer, _run(call))
    return json_answer(201, {})


def rerun_failed(call: Call) -> Answer:
    """Run the failed jobs of a run again."""
    latest = {check.name: check for check in _run(call).checks}.values()
    failed = [check for check in latest if check.status == "completed" and check.conclusion not in PASSING]
    if not failed:
        raise Refused(Kind.FORBIDDEN, "This workflow run has no failed jobs")
    for check in failed:
        checks.rerun(call.world, call.viewer, check)
    return json_answer(201, {})


ROUTES = (
    ("GET", f"{REPO}/actions/runs", "actions/list-workflow-runs-for-repo", runs),
    ("GET", RUN, "actions/get-workflow-run", run),
    ("GET", f"{RUN}/jobs", "actions/list-jobs-for-workflow-run", jobs),
    ("POST", f"{RUN}/approve", "actions/approve-workflow-run", approve),
    ("POST", f"{RUN}/rerun", "actions/re-run-workflow", rerun_run),
    ("POST", f"{RUN}/rerun-failed-jobs", "actions/re-run-workflow-failed-jobs", rerun_failed),
    ("GET", JOB, "actions/get-job-for-workflow-run", job),
    ("GET", f"{JOB}/logs", "actions/download-job-logs-for-workflow-run", job_logs),
    ("GET", f"{JOB}/logs/download", "actions/download-log", download_log),
    ("POST", f"{JOB}/rerun", "actions/re-run-job-for-workflow-run", rerun_job),
)
