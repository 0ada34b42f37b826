"""The stage on which acceptance tests play."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from support.clients import Nursery
from support.hook import COMMAND
from support.recorded import Tasks
from support.stage import COVERAGE, Theatre

from agent_sync.demo.stage import stage


@pytest.fixture
def theatre():
    """Set up a clone of the local GitHub."""
    with stage() as scenery:
        yield Theatre(
            replace(scenery, environment=scenery.environment | COVERAGE | {"AGENT_SYNC_CHECKS_BACKOFF_S": "120"})
        )


@pytest.fixture(scope="session")
def nursery():
    """Start the process that clients come from."""
    found = Nursery()
    yield found
    found.close()


@pytest.fixture
def tasks(repo, own_home, nursery, monkeypatch):
    """Set up a clone whose tasks are worked on by processes that can be killed."""
    monkeypatch.setenv("PATH", f"{Path(COMMAND).parent}:{os.environ['PATH']}")
    found = Tasks(repo, own_home, nursery)
    yield found
    found.close()
