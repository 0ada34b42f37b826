"""REST through PyGithub's objects, with its own retries, pauses and proxies for loopback switched off."""

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from github import Auth, Github, GithubException
from github.GithubObject import NotSet
from github.Repository import Repository

from agent_sync import __version__
from agent_sync.errors import NotFound
from agent_sync.gateway.transport.line import Call, Counter, Line
from agent_sync.gateway.transport.trouble import FailedRequest, Trouble, TroubleKind, of_response, one_line
from agent_sync.settings import without_proxy
from agent_sync.system import clock

T = TypeVar("T")
_FAILED = frozenset({"failure", "timed_out", "cancelled"})
_NOT_SENT = frozenset({"ConnectTimeout", "ProxyError", "SSLError"})
# It prints every redirect it follows; what a person must know is in our own words.
logging.getLogger("github").setLevel(logging.CRITICAL)


class Rest:
    """One repository over REST; each question and order is one request, because PyGithub's objects are lazy here."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def headers(self, call: Call) -> dict[str, str]:
        """Return the headers of an answer that costs nothing and that every kind of token may ask for."""
        try:
            return self._send(call, lambda github: _texts(github.get_rate_limit().raw_headers))
        except NotFound:
            # An Enterprise server without limits does not have this address; PyGithub has no object for the other one.
            return self._send(call, lambda github: _texts(github.requester.requestJsonAndCheck("GET", "/meta")[0]))

    def log_address(self, job: int, call: Call) -> str:
        """Return where the log of a job of Actions can be fetched."""
        return self._send(call, lambda github: self._repository(github).get_workflow_job(job).logs_url())

    def failed_step(self, job: int, call: Call) -> str:
        """Return the name of the first step of a job that failed; nothing where none is said to."""
        steps = self._send(call, lambda github: self._repository(github).get_workflow_job(job).steps)
        return next((str(step.name) for step in steps if step.conclusion in _FAILED), "")

    def annotations(self, job: int, call: Call) -> tuple[str, ...]:
        """Return the failures and warnings that a job noted at lines of the change, failures first."""
        found = self._send(
            call, lambda github: self._repository(github).get_check_run(job).get_annotations().get_page(0)
        )
        ordered = sorted(found, key=lambda one: one.annotation_level != "failure")
        return tuple(
            f"{one.path}:{one.start_line}: {one.message}" for one in ordered if one.annotation_level != "notice"
        )

    def rerun_failed_jobs(self, run: int, call: Call) -> None:
        """Run the failed jobs of a workflow run again."""
        self._send(call, lambda github: self._repository(github).get_workflow_run(run).rerun_failed_jobs())

    def add_label(self, issue: int, label: str, call: Call) -> None:
        """Put a label on an issue by name; one that the repository does not have yet is made."""
        self._send(call, lambda github: self._repository(github).get_issue(issue).add_to_labels(label))

    def ask(self, method: str, path: str, body: dict[str, Any] | None, call: Call) -> Any:
        """Send one request below the repository's address and return the JSON of the answer."""
        address = f"/repos/{self._line.repository.full_name}/{path}"

        def request(github: Github) -> Any:
            status, headers, text = github.requester.requestJson(method, address, input=body)
            # The library takes a redirect that it does not follow for the answer.
            if not 200 <= status < 300:  # noqa: PLR2004  # anything but success
                raise FailedRequest(of_response(status, _texts(headers), text, clock.now()))
            return json.loads(text) if text else None

        return self._send(call, request)

    def add_labels(self, number: int, labels: Sequence[str], call: Call) -> None:
        """Put labels on an issue or pull request by name."""
        self._send(call, lambda github: self._repository(github).get_issue(number).add_to_labels(*labels))

    def request_reviews(self, number: int, people: list[str], teams: list[str], call: Call) -> None:
        """Ask people and teams of the repository's organisation to review a pull request."""
        self._send(
            call,
            lambda github: (
                self._repository(github)
                .get_pull(number)
                .create_review_request(reviewers=people or NotSet, team_reviewers=teams or NotSet)
            ),
        )

    def _repository(self, github: Github) -> Repository:
        return github.get_repo(self._line.repository.full_name)

    def _send(self, call: Call, request: Callable[[Github], T]) -> T:
        self._line.asked = call
        with self._line.failures.as_our_errors(call), Counter.around(f"REST: {call.attempted}"):
            return self._line.patience.persist(lambda: self._send_once(request), is_write=call.is_write)

    def _send_once(self, request: Callable[[Github], T]) -> T:
        self._line.counter.add()
        try:
            with self._github() as github, without_proxy(self._line.endpoint.is_loopback):
                return request(github)
        except GithubException as error:
            raise FailedRequest(of_response(error.status, _texts(error.headers), _body(error), clock.now())) from None
        except OSError as error:
            raise FailedRequest(_trouble_of(error, self._line.endpoint.host)) from None
        except RuntimeError:
            message = "GitHub's address is redirected to another server, which is not followed."
            raise FailedRequest(Trouble(TroubleKind.REFUSED, message)) from None
        except json.JSONDecodeError:
            raise FailedRequest(Trouble(TroubleKind.LOST, "GitHub's answer is cut off: it is half a JSON.")) from None
        except (TypeError, AttributeError, LookupError, ValueError):
            # Raised where an answer has no body, or another one than the library knows.
            raise FailedRequest(Trouble(TroubleKind.ODD, "GitHub's answer could not be read.")) from None

    def _github(self) -> Github:
        verify: str | bool = True
        if self._line.endpoint.rest.startswith("https:"):
            from agent_sync.gateway.transport.certificates import requests_bundle, trust_system_store

            trust_system_store()
            verify = requests_bundle()
        return Github(
            verify=verify,
            auth=Auth.Token(self._line.token.secret),
            base_url=self._line.endpoint.rest,
            user_agent=f"agent-sync/{__version__}",
            timeout=max(1, round(self._line.settings.github.timeout_s)),
            lazy=True,
            per_page=100,
            # One policy for all of agent-sync: PyGithub's would repeat what may have been done, and sleep for minutes.
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
        )


def _texts(headers: Any) -> dict[str, str]:
    return {str(name): str(value) for name, value in (headers or {}).items()}


def _body(error: GithubException) -> str:
    """Return the body of an answer as it came; PyGithub wraps what is not JSON."""
    data = error.data
    if isinstance(data, dict) and data.keys() == {"data"}:
        return str(data["data"])
    return "" if data is None else json.dumps(data)


def _trouble_of(error: OSError, host: str) -> Trouble:
    # The library's own sentence may hold the whole address; the kind of failure says enough.
    name = type(error).__name__
    if name == "SSLError":
        from agent_sync.gateway.transport.certificates import certificate_trouble

        untrusted = certificate_trouble(error, host)
        if untrusted:
            return Trouble(TroubleKind.UNTRUSTED, one_line(untrusted))
    refused = "Connection refused" in str(error) or "Name or service not known" in str(error)
    if name in _NOT_SENT or refused:
        return Trouble(TroubleKind.NOT_SENT, f"GitHub cannot be reached ({name}).")
    if "Timeout" in name:
        return Trouble(TroubleKind.LOST, f"GitHub did not answer in time ({name}).")
    return Trouble(TroubleKind.LOST, f"The connection to GitHub broke ({name}).")
