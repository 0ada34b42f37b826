"""One suite of behaviour, run twice: against the local GitHub, and against answers as GitHub documents them."""

from typing import Any

import pytest
from behaviour import Behaviour, nothing, opened, pushed
from behaviour_reads import READS
from behaviour_trouble import TROUBLE
from behaviour_writes import WRITES

from agent_sync.errors import AgentSyncError
from agent_sync.gateway.port import Gateway

BEHAVIOURS = READS | WRITES | TROUBLE
# Refused orders leave a world as it was; so do questions.
ORDERS = {name for name in WRITES if not name.startswith("pull-refused")}


def world_of(name: str) -> str:
    """Tell whose local GitHub a behaviour shares: of those that want the same, or whose trouble is over with one use."""
    local = BEHAVIOURS[name].local
    if name in ORDERS:
        return name
    if local in {nothing, pushed, opened}:
        return local.__name__
    return "trouble" if name in TROUBLE else name


WORLDS = {world: [name for name in BEHAVIOURS if world_of(name) == world] for world in map(world_of, BEHAVIOURS)}


def came_of(behaviour: Behaviour, gateway: Gateway) -> Any:
    """Return what the act returned, or the error of ours that it raised."""
    try:
        return behaviour.act(gateway)
    except AgentSyncError as error_of_ours:
        return error_of_ours


@pytest.mark.parametrize("world", WORLDS)
def test_against_the_local_github(world, local, go_home):
    """The local GitHub makes the gateway behave so."""
    wanted = {name: BEHAVIOURS[name].local for name in WORLDS[world]}
    prepared, failed = set(), {}
    for name, prepare in wanted.items():
        behaviour = BEHAVIOURS[name]
        if prepare not in prepared:
            prepare(local)
            prepared.add(prepare)
        go_home(name)
        token = {"token": behaviour.token} if behaviour.token else {}
        came = came_of(behaviour, local.gateway(**token, **(behaviour.tables or {})))
        if not behaviour.check(came):
            failed[name] = came
    assert failed == {}


def test_against_documented_answers(documented, go_home):
    """GitHub's documented answers make the gateway behave the same way."""
    failed = {}
    for name, behaviour in BEHAVIOURS.items():
        go_home(name)
        documented.replies.clear()
        for operation, replies in behaviour.given.items():
            documented.given(operation, *(replies if isinstance(replies, list) else [replies]))
        came = came_of(behaviour, documented.gateway(**(behaviour.tables or {})))
        if not behaviour.check(came):
            failed[name] = came
    assert failed == {}
