"""Sends one GraphQL document over HTTP, and tries again as the policy allows, within one patience for the whole run."""

import json
import random
import time
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from agent_sync.gateway.transport.address import Endpoint
from agent_sync.gateway.transport.answer import GraphQLAnswer, answer_of
from agent_sync.gateway.transport.http_client import FAILURES, HttpAnswer, HttpClient, NotSentError
from agent_sync.gateway.transport.line import Counter
from agent_sync.gateway.transport.token import Token
from agent_sync.gateway.transport.trouble import FailedRequest, Trouble, TroubleKind, of_answer, of_response, one_line
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import clock

if TYPE_CHECKING:
    from tenacity import RetryCallState

MOST_TRIES = 3
WAITS_S = (0.3, 1.0)
T = TypeVar("T")
Sleep = Callable[[float], None]
# A limit that says "now" is not believed twice a second.
LEAST_LIMIT_WAIT_S = 1.0


class Wire:
    """The connection to one GitHub's GraphQL interface."""

    def __init__(self, endpoint: Endpoint, token: Token, *, timeout_s: float, counter: Counter) -> None:
        self._counter = counter
        self._host = endpoint.host
        self._headers = {"Authorization": f"Bearer {token.secret}", "Content-Type": "application/json"}
        # A proxy between this machine and itself would only be in the way.
        self._client = HttpClient(endpoint.graphql, timeout_s=timeout_s, is_direct=endpoint.is_loopback)
        weakref.finalize(self, self._client.close)

    def send(self, document: str, variables: Mapping[str, Any]) -> GraphQLAnswer:
        """Send one document; whatever is wrong with the answer as a whole is raised as a FailedRequest."""
        response = self._post({"query": document, **({"variables": dict(variables)} if variables else {})})
        body = _json_object(response.content)
        if "data" not in body and "errors" not in body:
            raise FailedRequest(_trouble_in(response))
        sign_on = response.headers.get("x-github-sso", "")
        answer = answer_of(body.get("data"), body.get("errors"), sign_on=sign_on)
        if not answer.parts and not isinstance(body.get("data"), dict) and not response.is_error:
            raise FailedRequest(Trouble(TroubleKind.ODD, "GitHub's answer holds neither data nor errors."))
        if answer.parts or response.is_error:
            trouble = of_answer(answer, response.headers, clock.now())
            if trouble or response.is_error:
                raise FailedRequest(trouble or _trouble_in(response))
        return answer

    def _post(self, body: dict[str, Any]) -> HttpAnswer:
        self._counter.add()
        try:
            with Counter.around(f"GraphQL {_operation(body['query'])} at {self._host}"):
                response = self._client.send("POST", self._headers, _json_bytes(body))
        except FAILURES as error:
            raise FailedRequest(_trouble_of(error, self._host)) from None
        self._counter.limits = response.headers
        return response


def _operation(document: str) -> str:
    """Return the first words of a document, such as `query Board`."""
    return document.partition("{")[0].partition("(")[0].strip()


def _json_bytes(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _trouble_in(response: HttpAnswer) -> Trouble:
    return of_response(response.status, response.headers, response.text, clock.now())


def _trouble_of(error: BaseException, host: str) -> Trouble:
    what = one_line(str(error)) or type(error).__name__
    if "certificate" in what.lower():
        from agent_sync.gateway.transport.certificates import certificate_trouble

        untrusted = certificate_trouble(error, host)
        if untrusted:
            return Trouble(TroubleKind.UNTRUSTED, one_line(untrusted))
    if isinstance(error, NotSentError):
        return Trouble(TroubleKind.NOT_SENT, f"GitHub cannot be reached: {what}.")
    if isinstance(error, TimeoutError):
        return Trouble(TroubleKind.LOST, f"GitHub did not answer in time: {what}.")
    return Trouble(TroubleKind.LOST, f"The connection to GitHub broke: {what}.")


def _json_object(body: bytes) -> dict[str, Any]:
    """Return the object an answer is; an empty one for anything else."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def wait_before_next(trouble: Trouble, attempt: int, *, is_write: bool) -> float | None:
    """Return how many seconds to wait before trying again after `attempt` tries; None means give up.

    A write is repeated only where it certainly had no effect: it was never sent, or a limit turned it away.
    """
    match trouble.kind:
        case TroubleKind.NOT_SENT:
            return _backoff(attempt)
        case TroubleKind.LOST | TroubleKind.ODD:
            return None if is_write else _backoff(attempt)
        case TroubleKind.LIMITED:
            return trouble.limit.wait_s if trouble.limit else None
        case (
            TroubleKind.UNTRUSTED
            | TroubleKind.SIGN_IN
            | TroubleKind.FORBIDDEN
            | TroubleKind.MISSING
            | TroubleKind.CONFLICT
            | TroubleKind.REFUSED
        ):
            return None


def _backoff(attempt: int) -> float | None:
    return WAITS_S[attempt - 1] if attempt < MOST_TRIES else None


@dataclass
class Patience:
    """How many seconds of rate limits may still be waited out, in all, by one gateway."""

    left_s: float
    sleep: Sleep = time.sleep

    def persist(self, attempt: Callable[[], T], *, is_write: bool) -> T:
        """Call `attempt` until it succeeds or the policy gives up; then its failure is raised."""
        try:
            return attempt()
        except FailedRequest as failed:
            return self._retry(attempt, failed, is_write=is_write)

    def _retry(self, attempt: Callable[[], T], failed: FailedRequest, *, is_write: bool) -> T:
        """Let the policy judge the first failure, then every further one; loaded only now that one has failed."""
        from tenacity import Retrying

        failures = [failed]

        def next_attempt() -> T:
            if failures:
                raise failures.pop()
            return attempt()

        next_try = _NextTry(self, is_write=is_write)
        return Retrying(retry=next_try.is_due, wait=next_try.wait, sleep=self.sleep)(next_attempt)

    def spend(self, wait_s: float) -> float | None:
        """Take a wait out of what is left; None where it does not fit."""
        wait_s = max(wait_s, LEAST_LIMIT_WAIT_S)
        if wait_s > self.left_s:
            return None
        self.left_s -= wait_s
        return wait_s


@dataclass
class _NextTry:
    patience: Patience
    is_write: bool
    wait_s: float | None = None

    def is_due(self, state: "RetryCallState") -> bool:
        failed = state.outcome.exception() if state.outcome else None
        if not isinstance(failed, FailedRequest):
            return False
        self.wait_s = self._wait_after(failed.trouble, state.attempt_number)
        return self.wait_s is not None

    def wait(self, _state: "RetryCallState") -> float:
        return self.wait_s or 0.0

    def _wait_after(self, trouble: Trouble, attempt: int) -> float | None:
        wait_s = wait_before_next(trouble, attempt, is_write=self.is_write)
        if wait_s is None or trouble.kind is TroubleKind.LIMITED:
            return None if wait_s is None else self.patience.spend(wait_s)
        # Jitter, so that several sessions do not come back at the same moment.
        return wait_s * random.uniform(0.5, 1.0)  # noqa: S311  # nothing secret
