"""JSON that is read without pydantic is what pydantic would have read, and is written as pydantic writes it."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given, strategies as st
from support.hostile import documents
from support.odd_values import FLOATS, NUMBERS, TEXTS, places, replaced, without
from support.prove import PROVE
from support.records import rich_record

from agent_sync.leases.model import Holder, Lease, LeaseState
from agent_sync.plain import ordinary
from agent_sync.plain.derived import pydantic_model, validated_json
from agent_sync.plain.fields import Refused
from agent_sync.record.machine.model import Record
from agent_sync.task.decision.feedback.reviews import AuthorKind, Remark
from agent_sync.task.decision.issue_brief import IssueBrief, RelatedIssue

RECORD = rich_record("été 😀")
LEASE = Lease(
    issue=7,
    holder=Holder(host="h", user="u", worktree="/w"),
    epoch=2,
    nonce="0" * 32,
    state=LeaseState.HELD,
    acquired_at=RECORD.created_at,
    renewed_at=RECORD.updated_at,
    ttl_s=3600.0,
)
WRITTEN = {Record: RECORD.model_dump(mode="json"), Lease: LEASE.model_dump(mode="json")}
# What stands in a record's lists.
LISTED = [RECORD.steps[0], RECORD.history[-1], RECORD.receipts[0], RECORD.checkpoints[0]]
ALL = WRITTEN | {type(one): one.model_dump(mode="json") for one in LISTED}
OTHERS = (
    None,
    True,
    False,
    [],
    ["x"],
    {},
    {"x": 1},
    {"x": 1.5},
    {"é": 1},
    {"x": [[{"y": None}]]},
    "step_running",
    "held",
)
ODD = (*NUMBERS, *FLOATS, *TEXTS, *OTHERS)
# How many places, one after the other, share the odd values among them.
SHARING = 1 if PROVE else 5


def odd(number):
    """Return the odd values for a place, by its number."""
    return ODD[number % SHARING :: SHARING]


def outcome(read, kind, content):
    """Return the value that was read, or why there is none."""
    try:
        return read(kind, content)
    except (ordinary.NotOrdinary, Refused) as error:
        return type(error)


def must_agree(kind, content):
    """Compare both ways of reading, and of writing what was read; tell whether the content was ordinary."""
    plain, other = (outcome(read, kind, content) for read in (ordinary.read_json, validated_json))
    is_ordinary = plain is not ordinary.NotOrdinary
    assert not is_ordinary or plain == other
    if is_ordinary:
        model = pydantic_model(kind).model_validate_json(content)
        for indent in (None, 2):
            assert plain.model_dump_json(indent=indent) == model.model_dump_json(indent=indent, by_alias=True)
    return is_ordinary


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.__name__)
def test_what_is_written_is_ordinary(kind):
    """What agent-sync writes is read without pydantic; spelled in another way it is the same value, by pydantic."""
    values = WRITTEN[kind]
    assert must_agree(kind, json.dumps(values, ensure_ascii=False).encode())
    escaped = json.dumps(values | {"branch": "😀"}).encode()
    assert not must_agree(kind, escaped)
    assert kind.model_validate_json(escaped) == kind.model_validate_json(
        json.dumps(json.loads(escaped), ensure_ascii=False)
    )


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_an_odd_value_in_any_place_is_read_alike(kind):
    """Each odd value in each place is left to pydantic, or read as pydantic reads it; so is a value that is missing."""
    values = ALL[kind]
    for number, place in enumerate(places(values)):
        for changed in (without(values, place), *(replaced(values, place, value) for value in odd(number))):
            must_agree(kind, json.dumps(changed, ensure_ascii=False).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_any_content_is_read_alike(kind, data):
    """Noise, odd numbers and texts, deep nesting: all is left to pydantic, or read as pydantic reads it."""
    must_agree(kind, data.draw(documents(WRITTEN[kind])))


def test_a_name_that_comes_twice_is_left_to_pydantic():
    """Readers differ in which of two values with one name they take."""
    content = json.dumps(WRITTEN[Lease]).replace("{", '{"issue": 8, ', 1).encode()
    with pytest.raises(ordinary.NotOrdinary):
        ordinary.read_json(Lease, content)


BRIEF = IssueBrief(
    number=42,
    title="été",
    url="https://x/42",
    description=Remark("1", "ann", AuthorKind.WRITER, "Fix it"),
    comments=(Remark("2", "bob", AuthorKind.WRITER, "How?", is_own=True),),
    parent=RelatedIssue("#1", "All", is_open=True),
    blocking=(RelatedIssue("#2", "Next", is_open=False),),
)


def test_a_dataclass_is_read_alike():
    """A dataclass that was written whole is read as pydantic reads it, and with any odd value too, or left to it."""
    values = json.loads(json.dumps(asdict(BRIEF)))
    assert ordinary.read_json(IssueBrief, json.dumps(values)) == BRIEF
    from pydantic import TypeAdapter

    judge = TypeAdapter(IssueBrief)
    for number, place in enumerate(places(values)):
        for value in odd(number):
            content = json.dumps(replaced(values, place, value), ensure_ascii=False)
            found = outcome(ordinary.read_json, IssueBrief, content)
            assert found is ordinary.NotOrdinary or found == judge.validate_json(content)
