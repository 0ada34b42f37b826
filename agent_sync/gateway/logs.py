"""Reads the end of a failed check's log."""

import re
from contextlib import closing
from urllib.parse import urlsplit

import httpx

from agent_sync import __version__
from agent_sync.errors import NotFound
from agent_sync.gateway.transport.endpoint import is_loopback
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.tokens import Area
from agent_sync.gateway.transport.trouble import FailedRequest, Kind, Trouble, one_line

MOST_LINES = 100
MOST_BYTES = 256 * 1024
# A job's page, or the page of its check run: both end in the job's number.
_JOB = re.compile(r"/(?:actions/runs/\d+/jobs?|runs|check-runs)/(\d+)(?:$|[/?#])")


def job_log(line: Line, check_url: str) -> str:
    """Return the last lines of the log of the Actions job a check belongs to."""
    from agent_sync.gateway.transport.rest import Rest

    call = Call("", attempted=f"reading the log of {one_line(check_url)}", area=Area.ACTIONS)
    job = _JOB.search(check_url)
    if job is None:
        message = "This check has no log on GitHub: it is not a job of Actions."
        raise NotFound(message, attempted=call.attempted, helps=f"open {one_line(check_url)}")
    path = f"/repos/{line.repository.full_name}/actions/jobs/{job[1]}/logs"
    with closing(Rest(line)) as rest:
        headers, body = rest.read(path, call)
    place = headers.get("location", "")
    text = _downloaded(line, place, call) if place else body
    return "\n".join(text.splitlines()[-MOST_LINES:])


def _downloaded(line: Line, place: str, call: Call) -> str:
    """Fetch the log from where GitHub keeps it; the address itself is the permission, so no token goes along."""
    parts = urlsplit(place)
    if parts.scheme != "https" and not (line.endpoint.is_loopback and is_loopback(parts.hostname or "")):
        raise NotFound("GitHub points to a log at an address that is not safe to read.", attempted=call.attempted)
    with line.failures.told(call):
        return line.patience.persist(lambda: _tail(line, place), is_write=False)


def _tail(line: Line, place: str) -> str:
    line.counter.add()
    headers = {"User-Agent": f"agent-sync/{__version__}", "Range": f"bytes=-{MOST_BYTES}"}
    client = httpx.Client(timeout=line.settings.github.timeout_s, trust_env=not line.endpoint.is_loopback)
    kept = b""
    try:
        with client, client.stream("GET", place, headers=headers) as answer:
            if not answer.is_success:
                raise FailedRequest(Trouble(Kind.MISSING, f"The log is no longer there ({answer.status_code})."))
            for piece in answer.iter_bytes():
                kept = (kept + piece)[-MOST_BYTES:]
    except httpx.HTTPError as error:
        raise FailedRequest(Trouble(Kind.LOST, f"The log could not be read ({type(error).__name__}).")) from None
    return kept.decode("utf-8", errors="replace")
