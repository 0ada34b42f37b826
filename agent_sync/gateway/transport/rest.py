"""REST over PyGithub, with its own retries, pauses and proxies for loopback switched off."""

from typing import Any
from urllib.parse import urlsplit

import requests
from github import Auth, Github
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass

from agent_sync import __version__
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.trouble import FailedRequest, Kind, Trouble, of_response, one_line
from agent_sync.system import clock

_NOT_SENT = (requests.exceptions.ConnectTimeout, requests.exceptions.ProxyError, requests.exceptions.SSLError)


class Rest:
    """One GitHub's REST interface."""

    def __init__(self, line: Line) -> None:
        self._line = line
        timeout_s = max(1, round(line.settings.github.timeout_s))
        self.github = Github(
            auth=Auth.Token(line.token.secret),
            base_url=line.endpoint.rest,
            user_agent=f"agent-sync/{__version__}",
            timeout=timeout_s,
            lazy=True,
            per_page=100,
            # One policy for all of agent-sync: PyGithub's would repeat what may have been done, and sleep for minutes.
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
        )
        self._connection = _connection(line, timeout_s)

    def close(self) -> None:
        """Let the connection go."""
        self._connection.close()
        self.github.close()

    def read(self, path: str, call: Call) -> tuple[dict[str, str], str]:
        """Return the headers and body at a path; a redirect is an answer like another."""
        with self._line.failures.told(call):
            return self._line.patience.persist(lambda: self._read_once(path), is_write=False)

    def write(self, path: str, values: dict[str, Any], call: Call) -> str:
        """Send values to a path and return the body of the answer; a lost answer is not asked for again."""
        with self._line.failures.told(call):
            return self._line.patience.persist(lambda: self._sent("POST", path, values)[1], is_write=True)

    def _read_once(self, path: str) -> tuple[dict[str, str], str]:
        return self._sent("GET", path, None)

    def _sent(self, verb: str, path: str, values: dict[str, Any] | None) -> tuple[dict[str, str], str]:
        self._line.counter.add()
        try:
            status, headers, body = self.github.requester.requestJson(verb, path, input=values, cnx=self._connection)
        except requests.exceptions.RequestException as error:
            raise FailedRequest(_unanswered(error)) from None
        except (RuntimeError, ValueError) as error:
            raise FailedRequest(Trouble(Kind.REFUSED, one_line(str(error)))) from None
        if status != 302 and status >= 300:  # noqa: PLR2004  # 302 is how logs are found
            raise FailedRequest(of_response(status, headers, body, clock.now()))
        return headers, body


def _connection(line: Line, timeout_s: int) -> Any:
    parts = urlsplit(line.endpoint.rest)
    kind = HTTPSRequestsConnectionClass if parts.scheme == "https" else HTTPRequestsConnectionClass
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
    connection.session.trust_env = not line.endpoint.is_loopback
    return connection


def _unanswered(error: requests.exceptions.RequestException) -> Trouble:
    # The library's own sentence may hold the whole address; the kind of failure says enough.
    name = type(error).__name__
    refused = "Connection refused" in str(error) or "Name or service not known" in str(error)
    if isinstance(error, _NOT_SENT) or refused:
        return Trouble(Kind.NOT_SENT, f"GitHub cannot be reached ({name}).")
    if isinstance(error, requests.exceptions.Timeout):
        return Trouble(Kind.LOST, f"GitHub did not answer in time ({name}).")
    return Trouble(Kind.LOST, f"The connection to GitHub broke ({name}).")
