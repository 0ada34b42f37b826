"""What REST answers best: whose token it is, what it may do, why a job failed, and running it again."""

import base64
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar
from urllib.parse import quote, urlsplit

from agent_sync.errors import GitHubError, NotFound, RateLimited
from agent_sync.gateway.transport.address import is_loopback
from agent_sync.gateway.transport.line import Call, Line, thing_at
from agent_sync.gateway.transport.token import Area
from agent_sync.gateway.transport.trouble import FailedRequest, Trouble, TroubleKind, moment_in, one_line
from agent_sync.lazy_patterns import pattern
from agent_sync.task.decision.tasks import Person
from agent_sync.task.failures.failure import JobOutput

T = TypeVar("T")
SCOPES = "x-oauth-scopes"
# Of a longer log only the end is read.
MOST_BYTES = 4 * 1024 * 1024
# A job's page, or the page of its check run: both end in the job's number.
_JOB = pattern(r"/(?:actions/runs/\d+/jobs?|runs|check-runs)/(\d+)(?:$|[/?#])")
_RUN = pattern(r"/actions/runs/(\d+)/jobs?/")


class RestReads(Line):
    """Questions that GraphQL has no answer to."""

    def viewer(self) -> Person:
        """Return the token's owner and its scopes; fine-grained and App tokens have none to tell."""
        from agent_sync.gateway.transport.rest import Rest

        call = Call("viewer", attempted="asking whose token this is")
        found = thing_at(self.ask(call), call, "viewer")
        headers = Rest(self).headers(call)
        return Person(str(found["login"]), str(found["id"]), _scopes(headers), _server_time(headers))

    def failed_job(self, check_url: str) -> JobOutput:
        """Return the failing step, the annotations and the log of the Actions job a check belongs to."""
        from agent_sync.gateway.transport.rest import Rest

        call = Call("", attempted=f"reading the log of {one_line(check_url)}", area=Area.ACTIONS)
        job = _JOB.search(check_url)
        if job is None:
            message = "This check has no log on GitHub: it is not a job of Actions."
            raise NotFound(message, attempted=call.attempted, helps=f"open {one_line(check_url)}")
        rest, number = Rest(self), int(job[1])
        log = _download(self, rest.log_address(number, call), call)
        step = _if_told(lambda: rest.failed_step(number, call), "")
        return JobOutput(step, _if_told(lambda: rest.annotations(number, call), ()), log)

    def rerun_failed_jobs(self, check_urls: tuple[str, ...]) -> None:
        """Run the failed jobs of the workflow runs that these checks belong to again."""
        from agent_sync.gateway.transport.rest import Rest

        call = Call("", attempted="running failed jobs again", area=Area.ACTIONS, is_write=True)
        runs = dict.fromkeys(int(found[1]) for url in check_urls if (found := _RUN.search(url)))
        for run in runs:
            Rest(self).rerun_failed_jobs(run, call)

    def file_text(self, path: str) -> str | None:
        """Return a file of the default branch; None where there is none, or where it is no plain text."""
        from agent_sync.gateway.transport.rest import Rest

        call = Call("", attempted=f"reading {path} of the default branch")
        try:
            found = Rest(self).ask("GET", f"contents/{quote(path)}", None, call)
        except NotFound:
            return None
        if not isinstance(found, dict) or found.get("type") != "file" or found.get("encoding") != "base64":
            return None
        return base64.b64decode(found["content"]).decode("utf-8", errors="replace")


def _if_told(ask: Callable[[], T], otherwise: T) -> T:
    """Return the answer to a side question, which must not cost what is known already."""
    try:
        return ask()
    except RateLimited:
        raise
    except GitHubError:
        return otherwise


def _scopes(headers: dict[str, str]) -> tuple[str, ...] | None:
    listed = headers.get(SCOPES)
    return None if listed is None else tuple(scope.strip() for scope in listed.split(",") if scope.strip())


def _server_time(headers: dict[str, str]) -> datetime | None:
    # A proxy may double the header: the first time in it is the server's own.
    return moment_in(headers.get("date", ""))


def _download(line: Line, address: str, call: Call) -> str:
    """Fetch the log from where GitHub keeps it; the address itself is the permission, so no token goes along."""
    parts = urlsplit(address)
    if parts.scheme != "https" and not (line.endpoint.is_loopback and is_loopback(parts.hostname or "")):
        message = "GitHub points to a log at an address that is not safe to read; it was not followed."
        raise NotFound(message, attempted=call.attempted)
    with line.failures.as_our_errors(call):
        return line.patience.persist(lambda: _tail(line, address), is_write=False)


def _tail(line: Line, address: str) -> str:
    from agent_sync.gateway.transport.http_client import FAILURES, HttpClient

    line.counter.add()
    headers = {"Accept-Encoding": "identity", "Range": f"bytes=-{MOST_BYTES}"}
    client = HttpClient(address, timeout_s=line.settings.github.timeout_s, is_direct=line.endpoint.is_loopback)
    try:
        answer = client.send("GET", headers, most=MOST_BYTES)
    except FAILURES as error:
        raise FailedRequest(Trouble(TroubleKind.LOST, f"The log could not be read ({type(error).__name__}).")) from None
    finally:
        client.close()
    if not 200 <= answer.status < 300:  # noqa: PLR2004  # the log, or its end
        raise FailedRequest(Trouble(TroubleKind.MISSING, f"The log is no longer there ({answer.status})."))
    return answer.content.decode("utf-8", errors="replace")
