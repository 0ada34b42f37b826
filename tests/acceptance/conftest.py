"""The stage on which acceptance tests play."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from support.clients import shared_nursery
from support.command import COMMAND, COVERAGE
from support.recorded import Tasks
from support.stage import Theatre, clone_of_github, quick

# Here every command is a fresh interpreter, as it is for a user; elsewhere that would only take time.
FRESH = {"test_hooks", "test_phases", "test_together"}


@pytest.fixture
def theatre(request):
    """Set up a clone of the local GitHub."""
    with clone_of_github() as scenery:
        environment = scenery.environment | COVERAGE | {"AGENT_SYNC_CHECKS_BACKOFF_S": "120"}
        if request.module.__name__.rpartition(".")[2] in FRESH:
            yield Theatre(replace(scenery, environment=environment))
            return
        yield Theatre(quick(replace(scenery, environment=environment)))


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
