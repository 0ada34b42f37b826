"""The REST half: scopes and job logs, against the local GitHub and against documented answers."""

import json
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from behaviour import order
from local_github import context_in, repository_in, settings_of
from scripted import scripted

from agent_sync.errors import AgentSyncError, GitHubDown, MissingScope, NotFound, NotSignedIn, RateLimited
from agent_sync.gateway.github import GitHub
from agent_sync.gateway.over_rest import MOST_BYTES

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LOG = "/api/v3/repos/octo/demo/actions/jobs/7/logs"
KEPT = "/store/7?sig=x"
JOB = "/api/v3/repos/octo/demo/actions/jobs/7"
NOTES = "/api/v3/repos/octo/demo/check-runs/7/annotations?per_page=100"
LIMITS = "/api/v3/rate_limit"
CHECK = "https://github.com/octo/demo/actions/runs/5/job/7"


@pytest.fixture
def script():
    """A server that answers what it is told to."""
    with scripted() as served:
        served.given(JOB, *[(200, {}, '{"id": 7, "steps": []}')] * 2)
        served.given(NOTES, (200, {}, "[]"))
        yield served


@pytest.fixture
def slept():
    """The waits so far."""
    return []


@pytest.fixture
def gateway(script, slept, tmp_path):
    """A gateway to that server."""
    root = repository_in(tmp_path / "scripted", "git@github.com:octo/demo.git")
    settings = settings_of(github={"url": script.url})
    context = context_in(root, settings, GH_TOKEN="ghp_scripted", AGENT_SYNC_GITHUB_URL=script.url)
    return GitHub.reaching(context, sleep=slept.append)


def test_scopes_of_a_classic_token(script, gateway):
    """A classic token tells its scopes in a header."""
    script.given(LIMITS, (200, {"X-OAuth-Scopes": "project, read:org, repo"}, "{}"))
    person = gateway.viewer()
    assert (person.login, person.id, person.scopes) == ("octo", "U_1", ("project", "read:org", "repo"))
    assert gateway.requests == 2


@pytest.mark.parametrize(("headers", "scopes"), [({}, None), ({"X-OAuth-Scopes": ""}, ())])
def test_scopes_that_are_not_told(script, gateway, headers, scopes):
    """Fine-grained and App tokens tell nothing, which is not the same as having no scope."""
    script.given(LIMITS, (200, headers, "{}"))
    assert gateway.viewer().scopes == scopes


def test_a_server_without_limits_tells_scopes_elsewhere(script, gateway):
    """An Enterprise server without rate limits is asked at another address."""
    script.given(LIMITS, (404, {}, '{"message": "Rate limiting is not enabled."}'))
    script.given("/api/v3/meta", (200, {"X-OAuth-Scopes": "repo"}, "{}"))
    assert gateway.viewer().scopes == ("repo",)


def test_both_interfaces_get_the_same_introduction(script, gateway):
    """REST and GraphQL carry the token and our name, and nothing goes through a proxy to loopback."""
    script.given(LIMITS, (200, {}, "{}"))
    gateway.viewer()
    (_, graphql, first), (_, rest, second) = script.asked
    assert (graphql, rest) == ("/api/graphql", LIMITS)
    assert (first["authorization"], second["authorization"]) == ("Bearer ghp_scripted", "token ghp_scripted")
    assert first["user-agent"] == second["user-agent"]
    assert first["user-agent"].startswith("agent-sync/")


def test_a_proxy_is_not_asked_about_this_machine(script, gateway, monkeypatch):
    """A proxy in the environment does not stand between this machine and itself."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    script.given(LIMITS, (200, {"X-OAuth-Scopes": "repo"}, "{}"))
    assert gateway.viewer().scopes == ("repo",)


LIMIT = {"x-ratelimit-remaining": "0", "x-ratelimit-limit": "60"}
TROUBLE = {
    "401": ((401, {}, '{"message": "Bad credentials"}'), NotSignedIn, "does not accept the token"),
    "403": ((403, {}, '{"message": "Must have admin rights to Repository."}'), MissingScope, "Must have admin rights"),
    "403 with a hint": (
        (403, {"X-Accepted-OAuth-Scopes": "repo"}, '{"message": "Resource not accessible"}'), MissingScope, "scope repo",
    ),
    "404": ((404, {}, '{"message": "Not Found"}'), NotFound, "does not show it"),
    "410": ((410, {}, '{"message": "Gone"}'), AgentSyncError, "410"),
    "429": ((429, {}, '{"message": "Too many requests"}'), RateLimited, "secondary rate limit"),
    "secondary limit": ((403, {"retry-after": "60"}, '{"message": "secondary rate limit"}'), RateLimited, "secondary"),
    "primary limit": ((403, LIMIT, '{"message": "API rate limit exceeded for 1.2.3.4."}'), RateLimited, "hourly"),
    "502": ((502, {}, '{"message": "Server Error"}'), GitHubDown, "502"),
    "503 as a page": ((503, {}, "<html>busy</html>"), GitHubDown, "HTML page"),
    "hung up": ("drop", GitHubDown, "broke"),
    "redirect to another host": (
        (301, {"location": "http://127.0.0.2:9/api/v3/x"}, "{}"), AgentSyncError, "redirected",
    ),
    "temporary redirect": ((307, {"location": "http://evil.example/"}, "{}"), AgentSyncError, "not followed"),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "kind", "words"), TROUBLE.values(), ids=TROUBLE)
def test_trouble_of_rest_has_its_error(script, gateway, reply, kind, words):
    """Trouble over REST becomes the same errors as over GraphQL, without any of PyGithub's own."""
    script.given(LOG, reply)
    with time_machine.travel(NOW, tick=False), pytest.raises(kind, match=words) as raised:
        gateway.failed_job(CHECK)
    assert raised.value.__cause__ is None
    assert "ghp_" not in str(raised.value)


def test_reads_are_tried_again_by_our_policy_alone(script, gateway, slept):
    """A read is tried three times in all; PyGithub adds no tries and no waits of its own."""
    script.given(LOG, (502, {}, '{"message": "Server Error"}'), "drop", (302, {"location": f"{script.url}{KEPT}"}, ""))
    script.given(KEPT, (200, {}, "the log\n"))
    assert gateway.failed_job(CHECK).log == "the log\n"
    assert script.paths() == [*[LOG] * 3, KEPT, JOB, NOTES]
    assert len(slept) == 2
    assert gateway.requests == 6


def test_a_limit_over_rest_says_until_when(script, gateway):
    """The hourly limit over REST ends at its reset."""
    reset = str(int((NOW + timedelta(minutes=5)).timestamp()))
    headers = LIMIT | {"x-ratelimit-reset": reset, "date": "Sun, 01 Mar 2026 12:00:00 GMT"}
    script.given(LOG, (403, headers, '{"message": "API rate limit exceeded for user ID 1."}'))
    with time_machine.travel(NOW, tick=False), pytest.raises(RateLimited) as raised:
        gateway.failed_job(CHECK)
    assert raised.value.until == NOW + timedelta(minutes=5, seconds=1)


def test_a_log_is_fetched_without_the_token(script, gateway):
    """A log is read where GitHub points to, and that place does not get the token; only the end is kept."""
    script.given(LOG, (302, {"location": f"{script.url}/store/7?sig=x"}, ""))
    script.given("/store/7?sig=x", (200, {}, "x" * MOST_BYTES + "the end\n"))
    log = gateway.failed_job(CHECK).log
    assert (len(log), log[-8:]) == (MOST_BYTES, "the end\n")
    kept = next(asked for asked in script.asked if asked[1] == KEPT)
    assert "authorization" not in kept[2]
    assert kept[2]["range"].startswith("bytes=-")
    assert gateway.requests == 4


def test_why_a_job_failed(script, gateway):
    """The first failed step and what was noted, failures first, come with the log."""
    script.given(LOG, (302, {"location": f"{script.url}{KEPT}"}, ""))
    script.given(KEPT, (200, {}, "the log\n"))
    steps = [{"name": "a", "conclusion": "success"}, {"name": "b", "conclusion": "failure"}]
    script.given(JOB, (200, {}, json.dumps({"id": 7, "steps": steps})))
    notes = [
        {"path": "a.py", "start_line": 1, "message": "odd", "annotation_level": "warning"},
        {"path": "b.py", "start_line": 2, "message": "bad", "annotation_level": "failure"},
        {"path": "c.py", "start_line": 3, "message": "fyi", "annotation_level": "notice"},
    ]
    script.given(NOTES, (200, {}, json.dumps(notes)))
    found = gateway.failed_job(CHECK)
    assert (found.step, found.annotations) == ("b", ("b.py:2: bad", "a.py:1: odd"))


PLACES = {
    "expired": ("/store/gone", NotFound, "no longer there"),
    "hung up": ("/store/drop", GitHubDown, "could not be read"),
}


@pytest.mark.parametrize(("place", "kind", "words"), PLACES.values(), ids=PLACES)
def test_a_log_that_cannot_be_fetched(script, gateway, place, kind, words):
    """A log that has gone from where it was kept is told cleanly."""
    script.given("/store/drop", "drop")
    script.given(LOG, (302, {"location": f"{script.url}{place}"}, ""))
    with pytest.raises(kind, match=words):
        gateway.failed_job(CHECK)


def test_a_log_is_not_read_from_the_clear(script, gateway):
    """A redirect to plain http elsewhere is not followed."""
    script.given(LOG, (302, {"location": "http://store.example/7"}, ""))
    with pytest.raises(NotFound, match="not safe"):
        gateway.failed_job(CHECK)


@pytest.mark.parametrize("url", ["https://circleci.com/gh/octo/demo/12", "", "https://github.com/octo/demo/pull/45"])
def test_checks_of_others_have_no_log_here(gateway, url):
    """A check that is not a job of Actions has no log, which costs no request."""
    with pytest.raises(NotFound, match="not a job of Actions"):
        gateway.failed_job(url)
    assert gateway.requests == 0


@pytest.mark.parametrize("form", ["/octo/demo/actions/runs/5/job/7", "/octo/demo/runs/7?check_suite_focus=true"])
def test_every_form_of_a_jobs_page_is_known(script, gateway, form):
    """A job is found from its page and from its check run's page."""
    script.given(LOG, (302, {"location": f"{script.url}{KEPT}"}, ""))
    script.given(KEPT, (200, {}, "the log\n"))
    assert gateway.failed_job(f"https://github.com{form}").log == "the log\n"


def test_scopes_and_logs_of_the_local_github(local):
    """The local GitHub tells scopes and keeps logs as GitHub does."""
    local.push()
    gateway = local.gateway()
    assert "project" in (gateway.viewer().scopes or ())
    number = gateway.open_pull(order(gateway, with_card=False))[0].number
    local.act("add_check", pull=number, name="test", status="completed", conclusion="failure", log="first\nlast\n")
    sha = local.state()["checks"][0]["sha"]
    runs = local.control.get(f"/repos/octo/demo/commits/{sha}/check-runs").json()["check_runs"]
    assert gateway.failed_job(runs[0]["details_url"]).log.splitlines()[-1].endswith("last")
    with pytest.raises(NotFound):
        gateway.failed_job("https://github.com/octo/demo/actions/runs/1/job/999999")
