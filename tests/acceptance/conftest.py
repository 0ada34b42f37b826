"""The stage on which acceptance tests play."""

from dataclasses import replace

import pytest
from support.stage import COVERAGE, Theatre

from agent_sync.demo.stage import stage


@pytest.fixture
def theatre():
    """Set up a clone of the local GitHub."""
    with stage() as scenery:
        yield Theatre(
            replace(scenery, environment=scenery.environment | COVERAGE | {"AGENT_SYNC_CHECKS_BACKOFF_S": "120"})
        )
