import json

import pytest
from hypothesis import given, strategies as st
from support.command import EVENTS, FIXTURES

from agent_sync.events.exchange import parse, trigger_of
from agent_sync.hook_event import HookEvent
from agent_sync.task.decision.facts import Trigger

SAMPLES = sorted(path for path in FIXTURES.glob("*.json") if path.name != "environment.json")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_recorded_inputs_are_understood(sample):
    """Every input that the client has been seen to send is an event with its session and directory."""
    values = json.loads(sample.read_text())
    event = parse(Trigger.STOP, sample.read_bytes())
    assert (values["session_id"], values["cwd"]) == (event.session_id, event.cwd)
    assert values.get("stop_hook_active", False) is event.is_continuation


@given(st.binary(max_size=200))
def test_any_bytes_are_an_event_or_nothing(raw):
    """Whatever comes in, the answer is an event or None."""
    assert isinstance(parse(Trigger.STOP, raw), HookEvent | None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
)


@given(st.dictionaries(st.sampled_from(["cwd", "session_id", "stop_hook_active", "x"]), JSON))
def test_misshapen_fields_are_empty(values):
    """A field of another shape than expected counts as missing."""
    event = parse(Trigger.STOP, json.dumps(values).encode())
    assert isinstance(event.cwd, str)
    assert isinstance(event.session_id, str)
    assert isinstance(event.is_continuation, bool)


@pytest.mark.parametrize("raw", [b"", b"null", b"[]", b"3", b"{", b"[" * 100_000, b"\xff", b'{"a":1}{"b":2}'])
def test_what_is_no_object_is_nothing(raw):
    """No part acts on input that is no JSON object."""
    assert parse(Trigger.STOP, raw) is None


def test_command_lines():
    """The hook's name is its trigger; unknown words change nothing."""
    assert [Trigger(name) for name in EVENTS] == [trigger_of([name]) for name in EVENTS]
    assert trigger_of(["on-idle", "--rewake"]) is Trigger.REWAKE
    assert trigger_of(["on-stop", "--rewake", "--what"]) is Trigger.STOP
