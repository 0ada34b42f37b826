"""GraphQL over HTTP: one keep-alive client, one request per call, data and errors side by side."""

import json
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from gql import GraphQLRequest
from gql.transport.exceptions import TransportConnectionFailed, TransportProtocolError, TransportServerError
from gql.transport.httpx import HTTPXTransport

from agent_sync import __version__
from agent_sync.gateway.transport.answer import Answer, answer_of
from agent_sync.gateway.transport.auth import Token
from agent_sync.gateway.transport.counter import Counter
from agent_sync.gateway.transport.endpoint import Endpoint
from agent_sync.gateway.transport.trouble import FailedRequest, Kind, Trouble, of_answer, of_response, one_line
from agent_sync.system import clock

# Raised before anything of the request has left this machine.
_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.LocalProtocolError,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


@dataclass
class _Watch:
    """What the HTTP client tells us; knows nothing of the wire, so that an unused wire can go."""

    counter: Counter
    last: httpx.Response | None = None

    def sent(self, _request: httpx.Request) -> None:
        self.counter.add()
        self.last = None

    def came(self, response: httpx.Response) -> None:
        self.last = response

    @property
    def headers(self) -> Mapping[str, str]:
        return self.last.headers if self.last is not None else {}

    def trouble(self) -> Trouble:
        """Return what is wrong with the last answer."""
        if self.last is None:
            return Trouble(Kind.LOST, "GitHub sent no answer.")
        return of_response(self.last.status_code, self.last.headers, self.last.text, clock.now())

    def http_trouble(self) -> Trouble | None:
        """Return what is wrong with the last answer if its status says so."""
        return self.trouble() if self.last is not None and self.last.is_error else None


class Wire:
    """The connection to one GitHub's GraphQL interface."""

    def __init__(self, endpoint: Endpoint, token: Token, *, timeout_s: float, counter: Counter) -> None:
        self._watch = _Watch(counter)
        self._transport = HTTPXTransport(
            endpoint.graphql,
            json_deserialize=_json_object,
            headers={"Authorization": f"Bearer {token.secret}", "User-Agent": f"agent-sync/{__version__}"},
            timeout=timeout_s,
            follow_redirects=False,
            # A proxy between this machine and itself would only be in the way.
            trust_env=not endpoint.is_loopback,
            event_hooks={"request": [self._watch.sent], "response": [self._watch.came]},
        )
        self._transport.connect()  # type: ignore[no-untyped-call]  # gql annotates everything but this
        weakref.finalize(self, self._transport.close)

    def send(self, document: str, variables: Mapping[str, Any]) -> Answer:
        """Send one document; whatever is wrong with the answer as a whole is raised as a FailedRequest."""
        try:
            result = self._transport.execute(GraphQLRequest(document, variable_values=dict(variables)))
        except TransportConnectionFailed as error:
            raise FailedRequest(_unanswered(error.__cause__ or error)) from None
        except (TransportServerError, TransportProtocolError):
            raise FailedRequest(self._watch.trouble()) from None
        answer = answer_of(result.data, result.errors)
        trouble = of_answer(answer, self._watch.headers, clock.now()) or self._watch.http_trouble()
        if trouble:
            raise FailedRequest(trouble)
        return answer


def _unanswered(error: BaseException) -> Trouble:
    what = one_line(str(error)) or type(error).__name__
    if isinstance(error, _NOT_SENT):
        return Trouble(Kind.NOT_SENT, f"GitHub cannot be reached: {what}.")
    if isinstance(error, httpx.TimeoutException):
        return Trouble(Kind.LOST, f"GitHub did not answer in time: {what}.")
    return Trouble(Kind.LOST, f"The connection to GitHub broke: {what}.")


def _json_object(body: bytes) -> dict[str, Any]:
    read = json.loads(body)
    if not isinstance(read, dict):
        raise TypeError("not an object")
    return read
