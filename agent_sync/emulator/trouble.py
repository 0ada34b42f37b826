"""Answers that go wrong on order, in GitHub's own words."""

from http import HTTPStatus

from agent_sync.emulator.exchange import DOCUMENTATION, Answer, error_answer, json_answer
from agent_sync.emulator.limits import Limits

SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. "
    "If you reach out to GitHub Support for help, please include the request ID."
)
TOO_HEAVY = "Resource limits for this query exceeded."
TIMED_OUT = (
    "Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub "
    "bug. Please include `A1B2:C3D4:E5F6` when reporting this issue."
)
RETRY_AFTER_S = 60
WORDS = {
    401: "Bad credentials",
    404: "Not Found",
    500: "Server Error",
    502: "Server Error",
    504: "Server Error",
}
GARBAGE = b"<html><body><h1>\xff\xfe proxy error</h1>\n"


def answer_instead(fault: str, *, limits: Limits, resource: str) -> Answer | None:
    """Return what is answered instead of doing anything, for faults that work that way."""
    if fault.startswith("status:"):
        status = int(fault.removeprefix("status:"))
        limited = status == HTTPStatus.TOO_MANY_REQUESTS
        return _limited(status) if limited else error_answer(status, WORDS.get(status) or _phrase(status))
    if fault == "secondary_limit":
        return _limited(403)
    if fault == "primary_limit":
        return _exhausted(limits, resource)
    if fault == "resource_limits":
        return json_answer(200, {"data": None, "errors": [{"type": "RESOURCE_LIMITS_EXCEEDED", "message": TOO_HEAVY}]})
    if fault == "timed_out":
        return json_answer(200, {"data": None, "errors": [{"message": TIMED_OUT}]})
    return None


def _limited(status: int) -> Answer:
    """Return the secondary limit, which GitHub answers as 403 or as 429."""
    page = f"{DOCUMENTATION}/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"
    body = {"message": SECONDARY, "documentation_url": page, "status": str(status)}
    return json_answer(status, body, retry_after=str(RETRY_AFTER_S))


def garbled(answer: Answer) -> Answer:
    """Return the answer with a body no client can read."""
    return Answer(answer.status, GARBAGE, {"content-type": "text/html"})


def _exhausted(limits: Limits, resource: str) -> Answer:
    headers = {name.replace("-", "_"): value for name, value in limits.headers(resource, exhausted=True).items()}
    if resource == "graphql":
        message = "API rate limit already exceeded for user ID 1."
        error = {"type": "RATE_LIMITED", "code": "graphql_rate_limit", "message": message}
        return json_answer(200, {"errors": [error]}, **headers)
    message = "API rate limit exceeded for user ID 1."
    return error_answer(403, message).with_headers(**headers)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"
