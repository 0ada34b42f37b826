"""Acts of continuous integration: workflow runs, checks, statuses."""

from agent_sync.emulator.acts.act import Act, ImpossibleActError
from agent_sync.emulator.operations import check_suites, checks
from agent_sync.emulator.operations.check_suites import Origin
from agent_sync.emulator.world.checks import ACTIONS_APP, CONCLUSIONS, STATUSES, Annotation, CheckRun, Step, WorkflowRun

Outcome = dict[str, int | str]


def _origin(act: Act) -> Origin:
    return Origin(act.optional_text("workflow"), act.optional_text("event"), act.text("app", ACTIONS_APP))


def add_run(act: Act) -> Outcome:
    """Start a workflow run that has no check yet, or with `app` a suite of another application."""
    status, conclusion = act.text("status", "queued"), act.optional_text("conclusion")
    _check_words(status, conclusion)
    sha = _full_sha(act)
    run = check_suites.start_run(act.world, act.by, act.repository, sha, _origin(act))
    run.status, run.conclusion = "completed" if conclusion else status, conclusion
    return {"id": run.identity.number}


def complete_run(act: Act) -> Outcome:
    """Finish a workflow run; without a conclusion its checks say how it ended."""
    run = _run(act)
    conclusion = act.optional_text("conclusion")
    _check_words("completed", conclusion)
    run.conclusion = conclusion
    run.status = None if conclusion is None and run.checks else "completed"
    return {"id": run.identity.number}


def approve_run(act: Act) -> Outcome:
    """Approve a workflow run that waits for it."""
    run = _run(act)
    check_suites.approve_run(act.by, run)
    return {"id": run.identity.number}


def _run(act: Act) -> WorkflowRun:
    run = check_suites.run_of(act.repository, _full_sha(act), _origin(act))
    if run is None:
        raise ImpossibleActError("there is no such workflow run on this commit")
    return run


def _full_sha(act: Act) -> str:
    found = act.repository.git.resolve(act.sha)
    if found is None:
        raise ImpossibleActError(f"there is no commit {act.sha}")
    return found


def _check_words(status: str, conclusion: str | None) -> None:
    if status not in STATUSES or conclusion not in {None, *CONCLUSIONS}:
        raise ImpossibleActError(
            f"the status is one of {', '.join(STATUSES)}, the conclusion one of {', '.join(CONCLUSIONS)}"
        )


def add_check(act: Act) -> Outcome:
    """Report a check on a commit."""
    conclusion = act.optional_text("conclusion")
    new = checks.NewCheck(
        name=act.text("name"),
        status=act.text("status", "completed" if conclusion else "queued"),
        conclusion=conclusion,
        required=act.flag("required", default=False),
        log=act.optional_text("log") or "",
        details_url=act.optional_text("details_url"),
        title=act.optional_text("title"),
        summary=act.optional_text("summary"),
        steps=_steps(act),
        annotations=_annotations(act),
        origin=_origin(act),
    )
    return {"id": checks.add_check(act.world, act.by, act.repository, act.sha, new).identity.number}


def complete_check(act: Act) -> Outcome:
    """Finish the newest check of a name on a pull request's head."""
    check = _newest_check(act)
    conclusion = act.text("conclusion", "success")
    checks.update_check(act.world, act.by, check, status="completed", conclusion=conclusion)
    check.log = act.optional_text("log") or check.log
    check.steps = _steps(act) or check.steps
    check.annotations = _annotations(act) or check.annotations
    return {"id": check.identity.number}


def rerun_check(act: Act) -> Outcome:
    """Run the newest check of a name again: a queued one takes its place."""
    return {"id": checks.rerun(act.world, act.by, _newest_check(act)).identity.number}


def _newest_check(act: Act) -> CheckRun:
    name, sha, origin = act.text("name"), act.sha, _origin(act)
    any_app = "app" not in act.fields
    found = [
        check
        for check in checks.latest_checks(act.repository, sha)
        if check.name == name and (origin.fits(check.run) or (any_app and not check.run.is_workflow))
    ]
    if not found:
        raise ImpossibleActError(f"there is no check {name!r} on {sha}")
    return found[-1]


def _steps(act: Act) -> tuple[Step, ...]:
    given = act.fields.get("steps") or []
    return tuple(_step(number, entry) for number, entry in enumerate(given, 1))


def _step(number: int, entry: object) -> Step:
    match entry:
        case {"name": str(name), **more}:
            return Step(number, name, _text(more.get("conclusion")), str(more.get("log") or ""))
        case _:
            raise ImpossibleActError("a step needs a name, and may have conclusion and log")


def _text(given: object) -> str | None:
    return None if given is None else str(given)


def _annotations(act: Act) -> tuple[Annotation, ...]:
    return tuple(_annotation(entry) for entry in act.fields.get("annotations") or [])


def _annotation(entry: object) -> Annotation:
    match entry:
        case {"path": str(path), "line": int(line), "message": str(message), **more}:
            return Annotation(path, line, message, str(more.get("level") or "failure"), _text(more.get("title")))
        case _:
            raise ImpossibleActError("an annotation needs path, line and message, and may have level and title")


def add_status(act: Act) -> Outcome:
    """Post a commit status."""
    status = checks.add_status(
        act.world, act.by, act.repository, act.sha, context=act.text("context"), state=act.text("state"),
        description=act.optional_text("description"), target_url=act.optional_text("target_url"),
    )  # fmt: skip
    return {"id": status.identity.number}


def require_checks(act: Act) -> Outcome:
    """Make exactly these checks required, whether they have reported or not."""
    act.repository.required_checks = set(act.texts("names"))
    return {"id": act.repository.full_name}
