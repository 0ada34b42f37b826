"""`doctor` compares the documents that agent-sync sends with what the server says it understands."""

import json
import os
import subprocess
from importlib.resources import files

import pytest
from graphql import build_schema, graphql_sync
from support.command import run
from support.rewriting_proxy import rewriting_proxy

from agent_sync import __version__
from agent_sync.emulator.server import running
from agent_sync.gateway.documents import PLAINER, documents
from agent_sync.setup.doctor.documents import PURPOSES

SDL = (files("agent_sync.emulator") / "schema.graphql").read_text("utf-8")
ALL = f"all {len(documents())} documents are understood by this server"


@pytest.fixture(scope="module")
def proxy():
    """Stand before the local GitHub."""
    with running() as server, rewriting_proxy(server.url) as proxy:
        yield proxy


@pytest.fixture
def checked(repo, proxy, monkeypatch, tmp_path):
    """Return what doctor says of the documents in a repository on that server, and its exit status."""
    # What answers there as this version does is enough, and whether git may push is not asked.
    (tmp_path / "agent-sync").write_text(f"#!/bin/sh\necho agent-sync, version {__version__}\n")
    (tmp_path / "agent-sync").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("AGENT_SYNC_LEASE_WHERE", "clone")
    monkeypatch.setenv("AGENT_SYNC_GITHUB_URL", proxy.url)
    subprocess.run(["git", "remote", "add", "origin", f"{proxy.url}/octo/demo.git"], cwd=repo, check=True)
    run("init", "--yes", cwd=repo)

    def check(answer_for=None):
        proxy.answer_for = answer_for
        ran = run("doctor", "--json", cwd=repo)
        found = {check["name"]: check for check in json.loads(ran.stdout)["checks"]}
        return found["documents"], ran.status

    yield check
    proxy.answer_for = None


def schema_without(*lines):
    """Return an answer for questions about types by a server whose schema lacks some lines."""
    text = SDL
    for line in lines:
        assert line in text, line
        text = text.replace(line, "")
    schema = build_schema(text, assume_valid=True, assume_valid_sdl=True)

    def answer_for(asked):
        if b"query Types" not in asked:
            return None
        return json.dumps({"data": graphql_sync(schema, json.loads(asked)["query"]).data}).encode()

    return answer_for


def test_server_that_knows_everything(checked):
    """One line says that all is understood, after one request."""
    asked = []

    def count(body):
        asked.append(body)

    found, status = checked(count)
    assert (found["mark"], found["says"], status) == ("ok", ALL, 0)
    assert sum(b"query Types" in body for body in asked) == 1
    assert sum(b'"query"' in body for body in asked) == 4


def test_field_that_the_server_lacks_is_named_with_its_document(checked):
    """What cannot be done without is a failure, which names the document, what it is for, the field and a way out."""
    found, status = checked(
        schema_without("  createPullRequest(input: CreatePullRequestInput!): CreatePullRequestPayload\n")
    )
    assert (found["mark"], status) == ("fail", 1)
    says = "open_pull (opening pull requests): Cannot query field 'createPullRequest' on type 'Mutation'"
    assert found["says"] == f"this server does not understand {says}"
    assert "docs/how-to/enterprise.md" in found["fix"]


def test_comfort_that_the_server_lacks_is_a_warning(checked):
    """What only one command needs does not fail the set-up."""
    found, status = checked(
        schema_without("  createLinkedBranch(input: CreateLinkedBranchInput!): CreateLinkedBranchPayload\n")
    )
    assert (found["mark"], status) == ("warn", 0)
    assert "link_branch (linking a branch to its issue)" in found["says"]


def test_older_server_for_which_there_are_plainer_documents(checked):
    """A document in whose place a plainer one is sent is told, and nothing is wrong."""
    found, status = checked(schema_without("  mergeQueueEntry: MergeQueueEntry\n"))
    assert (found["mark"], status) == ("ok", 0)
    assert (
        "poll (following a pull request): Cannot query field 'mergeQueueEntry' on type 'PullRequest'" in found["says"]
    )
    assert found["says"].endswith("a plainer document is sent instead, so everything works")


REFUSALS = [
    {"errors": [{"message": "GraphQL introspection is not allowed"}]},
    {"data": None, "errors": [{"message": "Field '__type' doesn't exist on type 'Query'"}]},
    {"data": {}},
    {"data": {"Query": None}},
]


def test_server_that_refuses_introspection(checked):
    """A server that does not tell is said to be one, and fails nothing."""
    for answer in map(json.dumps, REFUSALS):
        found, status = checked(lambda asked, answer=answer: answer.encode() if b"query Types" in asked else None)
        assert (found["mark"], status) == ("skip", 0), answer
        assert found["says"].startswith("this server does not tell what it understands"), answer


def test_every_document_has_a_purpose():
    """What does not work without a document is known of each, and plainer ones are documents."""
    assert set(PURPOSES) == set(documents())
    assert {name for names in PLAINER.values() for name in names} | set(PLAINER) <= set(documents())
