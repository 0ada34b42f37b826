"""GitHub's REST body for each refusal of the world."""

from typing import Any

from agent_sync.emulator.exchange import Answer, error_answer
from agent_sync.emulator.world.refusal import Kind, Problem, Refused

STATUS = {
    Kind.BAD_REQUEST: 400,
    Kind.UNAUTHORIZED: 401,
    Kind.NOT_FOUND: 404,
    Kind.FORBIDDEN: 403,
    Kind.INSUFFICIENT_SCOPES: 403,
    Kind.UNPROCESSABLE: 422,
    Kind.VALIDATION: 422,
    Kind.NOT_MERGEABLE: 405,
    Kind.CONFLICT: 409,
}


def refused(refusal: Refused) -> Answer:
    """Answer a refusal; REST never says what it is that cannot be found."""
    status = STATUS[refusal.kind]
    if refusal.kind is Kind.NOT_FOUND:
        return error_answer(404, "Not Found")
    if refusal.headers:
        return error_answer(status, refusal.message).with_headers(**refusal.headers)
    sentences = [entry.message for entry in refusal.problems if not entry.resource]
    if sentences:
        return error_answer(status, "Unprocessable Entity", errors=sentences)
    if refusal.problems:
        return error_answer(status, "Validation Failed", errors=[_problem(entry) for entry in refusal.problems])
    return error_answer(status, refusal.message)


def _problem(problem: Problem) -> dict[str, Any]:
    entry = {
        "value": problem.value,
        "resource": problem.resource,
        "field": problem.field,
        "code": problem.code,
        "message": problem.message,
    }
    return {name: value for name, value in entry.items() if value is not None}
