"""Recorded answers of github.com through the real client; skipped where they are not at hand."""

import json
import os
import re
import time
from email.utils import formatdate
from pathlib import Path

import pytest
from scripted import scripted
from test_promises import ASK, GRAPHQL

from agent_sync import errors
from agent_sync.gateway.github import GitHub

VARIABLE = "AGENT_SYNC_GITHUB_SCHEMAS"
RECORDED = Path(os.environ.get(VARIABLE, "/nowhere")) / "recorded"
pytestmark = pytest.mark.skipif(not RECORDED.is_dir(), reason=f"{VARIABLE} names no directory with recordings")
DOWN, REFUSED = errors.GitHubDown, errors.Refused
# What the answers of a topic become; single ones that differ are named below.
TOPICS = {
    "auth": (errors.NotSignedIn, errors.MissingScope),
    "rate-limits": (errors.RateLimited,),
    "server-trouble": (DOWN,),
    "not-found": (errors.NotFound,),
    "redirects": (REFUSED, DOWN),
    "refused": (REFUSED, errors.Conflict, errors.MissingScope),
    "graphql-errors": (REFUSED, errors.NotFound, DOWN),
}
SINGLE = {
    "rest-403-archived": (REFUSED,),
    "400-problems-parsing": (REFUSED,),
    "resource-limits-partial-2026": (errors.TooHeavy,),
    "401-empty-body": (errors.NotSignedIn,),
    "graphql-200-saml": (errors.MissingScope,),
    "rest-403-token-lifetime-90": (errors.MissingScope,),
    "timeout-502-data-is-a-string": (DOWN,),
}
DATA = ("graphql", "projects", "git-data", "issues", "pulls", "checks", "actions", "repositories", "meta")
REST = "/api/v3/repos/octo/demo/git/"
SHA = "a" * 40
BY_REST = {
    f"{REST}matching-refs/agentsync/": lambda github: github.refs_below("refs/agentsync/"),
    f"{REST}commits/{SHA}": lambda github: github.read_commit(SHA),
    f"{REST}trees/{SHA}?recursive=1": lambda github: github.read_tree(SHA),
    f"{REST}blobs/{SHA}": lambda github: github.read_blob(SHA),
}
LEFT_OUT = frozenset({"status", "content-length", "transfer-encoding", "content-encoding", "connection"})


def recordings(*topics):
    """Return the recordings of some topics by their names."""
    return {
        f"{path.parent.name}/{path.stem}": path for topic in topics for path in sorted(RECORDED.glob(f"{topic}/*.json"))
    }


def served(path):
    """Return a recording as the server sends it, and whether it answers GraphQL."""
    found = json.loads(path.read_text())
    headers = {name: current(str(value)) for name, value in (found["headers"] or {}).items() if name not in LEFT_OUT}
    body = found["body"]
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    is_graphql = (found["request"] or {}).get("path", "").endswith("/graphql") or "graphql" in path.parent.name
    return (found["status"], headers, text), is_graphql


def current(text):
    """Return a header whose time is near now."""
    later = re.fullmatch(r"@(date|now)(?:\+(\d+))?", text)
    if not later:
        return text
    at = time.time() + int(later[2] or 0)
    return formatdate(at, usegmt=True) if later[1] == "date" else str(int(at))


@pytest.fixture
def script():
    """A server that answers what it is told to."""
    with scripted() as found:
        yield found


@pytest.fixture
def gateway(script, tmp_path):
    """Return what makes a gateway to that server."""
    from local_github import context_in, repository_in, settings_of

    root = repository_in(tmp_path / "scripted", "git@github.com:octo/demo.git")
    context = context_in(
        root, settings_of(github={"url": script.url}), GH_TOKEN="ghp_x", AGENT_SYNC_GITHUB_URL=script.url
    )
    return lambda: GitHub.reaching(context, sleep=lambda _: None)


def said(ask, github):
    """Return the error of ours that a question ends with; anything else that is raised fails the test."""
    try:
        ask(github)
    except errors.AgentSyncError as error:
        return error
    return None


@pytest.mark.parametrize("path", recordings(*TOPICS).values(), ids=recordings(*TOPICS))
def test_recorded_trouble_has_its_class(script, gateway, go_home, path):
    """Each is the class that its cause has, in one sentence, with no page source and nothing of a library."""
    go_home("recorded")
    reply, is_graphql = served(path)
    script.given(GRAPHQL if is_graphql else f"{REST}matching-refs/agentsync/", reply)
    error = said(ASK["parent"] if is_graphql else BY_REST[f"{REST}matching-refs/agentsync/"], gateway())
    assert isinstance(error, SINGLE.get(path.stem, TOPICS[path.parent.name])), (reply[0], type(error), str(error))
    assert len(error.happened) < 400, error.happened
    assert not re.search(r"<\w+|NoneType|Traceback|base_url", str(error)), str(error)


@pytest.mark.parametrize("topic", DATA)
def test_recorded_data_is_read_or_refused(script, gateway, topic):
    """Any answer to any question ends with a value or an error of ours."""
    for name, path in recordings(topic).items():
        reply, is_graphql = served(path)
        if is_graphql or topic == "projects":
            script.given(GRAPHQL, reply)
            unread = [said(ask, gateway()) for ask in ASK.values()]
        else:
            for address in BY_REST:
                script.given(address, reply)
            unread = [said(ask, gateway()) for ask in BY_REST.values()]
        assert all(error is None or error.exit_status != errors.Exit.UNEXPECTED for error in unread), name
