"""The stage on which acceptance tests play."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from support.clients import Client, shared_nursery
from support.command import COMMAND, COVERAGE
from support.recorded import Tasks
from support.stage import QuickStage, Theatre

from agent_sync.demo.stage import stage

# Here every command is a fresh interpreter, as it is for a user; elsewhere that would only take time.
FRESH = {"test_hooks", "test_phases", "test_together"}


@pytest.fixture
def theatre(request, nursery):
    """Set up a clone of the local GitHub."""
    with stage() as scenery:
        environment = scenery.environment | COVERAGE | {"AGENT_SYNC_CHECKS_BACKOFF_S": "120"}
        if COVERAGE or request.module.__name__.rpartition(".")[2] in FRESH:
            yield Theatre(replace(scenery, environment=environment))
            return
        client = Client(nursery, scenery.root)
        yield Theatre(QuickStage(scenery.url, scenery.root, environment, client))
        client.close()


@pytest.fixture(scope="session")
def nursery():
    """Start the process that clients come from."""
    return shared_nursery()


@pytest.fixture
def tasks(repo, own_home, nursery, monkeypatch):
    """Set up a clone whose tasks are worked on by processes that can be killed."""
    monkeypatch.setenv("PATH", f"{Path(COMMAND).parent}:{os.environ['PATH']}")
    found = Tasks(repo, own_home, nursery)
    yield found
    found.close()
