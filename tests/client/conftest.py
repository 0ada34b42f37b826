"""Sets the unmodified client up in a clone of the local GitHub, and notes what each scenario cost."""

import installed_client
import pytest
from claude_code import ClaudeCode
from scenes import initialise
from scripted_model import running_model
from support.scratch_processes import kill_all
from support.stage import Theatre

from agent_sync.demo.stage import stage


@pytest.fixture(scope="session")
def program():
    """Find the installed client."""
    found = installed_client.executable()
    if found is None:
        pytest.skip(installed_client.MISSING)
    return found


@pytest.fixture
def model():
    """Serve a scripted model."""
    with running_model() as scripted:
        yield scripted


@pytest.fixture
def theatre():
    """Set up a clone of the local GitHub."""
    with stage() as scenery:
        yield Theatre(scenery)


@pytest.fixture
def gated():
    """Set up a clone whose definitions of gates are on the default branch."""
    with stage(with_gate=True) as scenery:
        yield Theatre(scenery)


@pytest.fixture
def bare_client(request, program, theatre, model, record_property):
    """Set the client up in a clone that knows nothing of agent-sync."""
    client = ClaudeCode(program, theatre.stage, model)
    client.trust()
    yield client
    _record(request, client, record_property)


@pytest.fixture
def client(bare_client):
    """Set the client up in the clone as `agent-sync init` leaves it."""
    initialise(bare_client.stage)
    return bare_client


@pytest.fixture
def gated_client(request, program, gated, model, record_property):
    """Set the client up in the clone with gates."""
    client = ClaudeCode(program, gated.stage, model)
    client.trust()
    initialise(client.stage)
    yield client
    _record(request, client, record_property)


def _record(request, client, record_property):
    """Note a row of the table in docs/claude-code.md, and end what the client left behind."""
    kill_all(client.home)
    record_property("scenario", (request.function.__doc__ or "").strip().rstrip("."))
    record_property("client", installed_client.version())
    record_property("requests", len(client.model.turns))
    record_property("injected", client.injected)
