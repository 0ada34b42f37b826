"""Sends one GraphQL document over HTTP, and tries again as the policy allows, within one patience for the whole run."""

import json
import random
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
from gql import GraphQLRequest
from gql.transport.exceptions import TransportConnectionFailed, TransportProtocolError, TransportServerError
from gql.transport.httpx import HTTPXTransport
from tenacity import RetryCallState, Retrying

from agent_sync import __version__
from agent_sync.gateway.transport.address import Endpoint
from agent_sync.gateway.transport.answer import GraphQLAnswer, answer_of
from agent_sync.gateway.transport.line import Counter
from agent_sync.gateway.transport.token import Token
from agent_sync.gateway.transport.trouble import FailedRequest, Trouble, TroubleKind, of_answer, of_response, one_line
from agent_sync.system import clock

if TYPE_CHECKING:
    import ssl

# Raised before anything of the request has left this machine.
_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.LocalProtocolError,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


MOST_TRIES = 3
WAITS_S = (0.3, 1.0)
T = TypeVar("T")
Sleep = Callable[[float], None]
# A limit that says "now" is not believed twice a second.
LEAST_LIMIT_WAIT_S = 1.0


@dataclass
class _Watch:
    """What the HTTP client tells us; knows nothing of the wire, so that an unused wire can go."""

    counter: Counter
    last: httpx.Response | None = None

    def note_request(self, _request: httpx.Request) -> None:
        self.counter.add()
        self.last = None

    def note_response(self, response: httpx.Response) -> None:
        self.last = response

    @property
    def headers(self) -> Mapping[str, str]:
        return self.last.headers if self.last is not None else {}

    def trouble(self) -> Trouble:
        """Return what is wrong with the last answer."""
        if self.last is None:
            return Trouble(TroubleKind.LOST, "GitHub sent no answer.")
        return of_response(self.last.status_code, self.last.headers, self.last.text, clock.now())

    @property
    def is_error(self) -> bool:
        """Whether the status of the last answer says that something is wrong."""
        return self.last is not None and self.last.is_error

    def http_trouble(self) -> Trouble | None:
        """Return what is wrong with the last answer if its status says so."""
        return self.trouble() if self.is_error else None


class Wire:
    """The connection to one GitHub's GraphQL interface."""

    def __init__(self, endpoint: Endpoint, token: Token, *, timeout_s: float, counter: Counter) -> None:
        self._watch = _Watch(counter)
        self._host = endpoint.host
        self._transport = HTTPXTransport(
            endpoint.graphql,
            json_deserialize=_json_object,
            headers={"Authorization": f"Bearer {token.secret}", "User-Agent": f"agent-sync/{__version__}"},
            timeout=timeout_s,
            follow_redirects=False,
            # A proxy between this machine and itself would only be in the way.
            trust_env=not endpoint.is_loopback,
            verify=verification(endpoint.graphql),
            event_hooks={"request": [self._watch.note_request], "response": [self._watch.note_response]},
        )
        self._transport.connect()  # type: ignore[no-untyped-call]  # gql annotates everything but this
        weakref.finalize(self, self._transport.close)

    def send(self, document: str, variables: Mapping[str, Any]) -> GraphQLAnswer:
        """Send one document; whatever is wrong with the answer as a whole is raised as a FailedRequest."""
        try:
            result = self._transport.execute(GraphQLRequest(document, variable_values=dict(variables)))
        except TransportConnectionFailed as error:
            raise FailedRequest(_trouble_of(error.__cause__ or error, self._host)) from None
        except (TransportServerError, TransportProtocolError):
            raise FailedRequest(self._watch.trouble()) from None
        answer = answer_of(result.data, result.errors, sign_on=self._watch.headers.get("x-github-sso", ""))
        if answer.parts or self._watch.is_error:
            trouble = of_answer(answer, self._watch.headers, clock.now()) or self._watch.http_trouble()
            if trouble:
                raise FailedRequest(trouble)
        return answer


def verification(address: str) -> "ssl.SSLContext | bool":
    """Return whom a connection believes; the certificate store is loaded only where https is spoken."""
    if not address.startswith("https:"):
        return True
    from agent_sync.gateway.transport.certificates import https_context

    return https_context()


def _trouble_of(error: BaseException, host: str) -> Trouble:
    what = one_line(str(error)) or type(error).__name__
    if "certificate" in what.lower():
        from agent_sync.gateway.transport.certificates import certificate_trouble

        untrusted = certificate_trouble(error, host)
        if untrusted:
            return Trouble(TroubleKind.UNTRUSTED, one_line(untrusted))
    if isinstance(error, _NOT_SENT):
        return Trouble(TroubleKind.NOT_SENT, f"GitHub cannot be reached: {what}.")
    if isinstance(error, httpx.TimeoutException):
        return Trouble(TroubleKind.LOST, f"GitHub did not answer in time: {what}.")
    return Trouble(TroubleKind.LOST, f"The connection to GitHub broke: {what}.")


def _json_object(body: bytes) -> dict[str, Any]:
    read = json.loads(body)
    if not isinstance(read, dict):
        raise TypeError("not an object")
    return read


def wait_before_next(trouble: Trouble, attempt: int, *, is_write: bool) -> float | None:
    """Return how many seconds to wait before trying again after `attempt` tries; None means give up.

    A write is repeated only where it certainly had no effect: it was never sent, or a limit turned it away.
    """
    match trouble.kind:
        case TroubleKind.NOT_SENT:
            return _backoff(attempt)
        case TroubleKind.LOST:
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
        next_try = _NextTry(self, is_write=is_write)
        return Retrying(retry=next_try.is_due, wait=next_try.wait, sleep=self.sleep)(attempt)

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

    def is_due(self, state: RetryCallState) -> bool:
        failed = state.outcome.exception() if state.outcome else None
        if not isinstance(failed, FailedRequest):
            return False
        self.wait_s = self._wait_after(failed.trouble, state.attempt_number)
        return self.wait_s is not None

    def wait(self, _state: RetryCallState) -> float:
        return self.wait_s or 0.0

    def _wait_after(self, trouble: Trouble, attempt: int) -> float | None:
        wait_s = wait_before_next(trouble, attempt, is_write=self.is_write)
        if wait_s is None or trouble.kind is TroubleKind.LIMITED:
            return None if wait_s is None else self.patience.spend(wait_s)
        # Jitter, so that several sessions do not come back at the same moment.
        return wait_s * random.uniform(0.5, 1.0)  # noqa: S311  # nothing secret
