"""One suite of behaviour, run twice: against the local GitHub, and against answers as GitHub documents them."""

from typing import Any

import pytest
from behaviour import Behaviour
from behaviour_reads import READS
from behaviour_trouble import TROUBLE
from behaviour_writes import WRITES

from agent_sync.errors import AgentSyncError
from agent_sync.gateway.port import Gateway

BEHAVIOURS = READS | WRITES | TROUBLE


def came_of(behaviour: Behaviour, gateway: Gateway) -> Any:
    """Return what the act returned, or the error of ours that it raised."""
    try:
        return behaviour.act(gateway)
    except AgentSyncError as error_of_ours:
        return error_of_ours


@pytest.mark.parametrize("behaviour", BEHAVIOURS.values(), ids=BEHAVIOURS)
def test_against_the_local_github(behaviour, local):
    """The local GitHub makes the gateway behave so."""
    behaviour.local(local)
    token = {"token": behaviour.token} if behaviour.token else {}
    gateway = local.gateway(**token, **(behaviour.tables or {}))
    came = came_of(behaviour, gateway)
    assert behaviour.check(came), came


@pytest.mark.parametrize("behaviour", BEHAVIOURS.values(), ids=BEHAVIOURS)
def test_against_documented_answers(behaviour, documented):
    """GitHub's documented answers make the gateway behave the same way."""
    for operation, replies in behaviour.given.items():
        documented.given(operation, *(replies if isinstance(replies, list) else [replies]))
    came = came_of(behaviour, documented.gateway(**(behaviour.tables or {})))
    assert behaviour.check(came), came
