"""Every parser of a file or an input meets contents of any kind with our own errors, or an answer, and nothing else."""

import contextlib
import json

import pytest
from hypothesis import given
from support.command import run
from support.hostile import documents, every_odd
from support.meeting import CLAIM, EVENT, STATE, meet_claim, meet_event, meet_receipt, meet_record, meet_state
from support.prove import PROVE
from support.receipts import receipt
from support.stored_records import full_store

from agent_sync.errors import AgentSyncError
from agent_sync.record.disk.deletion import TOMBSTONES, tombstones
from agent_sync.record.disk.store import HOOK_JSON, OpenRecord, RecordStore
from agent_sync.record.receipts.proof import find_receipt
from agent_sync.worktree import Place, worktree


@pytest.mark.parametrize(("meet", "like"), [(meet_claim, CLAIM), (meet_event, EVENT)], ids=["claim", "event"])
def test_odd_values(meet, like):
    """Every odd value in every place of a claim or an event is met with an answer or with our own error."""
    for content in every_odd(like):
        meet(content)


@given(documents(CLAIM))
def test_any_claim(content):
    """So is any other content of a claim file."""
    meet_claim(content)


@given(documents(EVENT))
def test_any_event(content):
    """So is any other input of a hook."""
    meet_event(content)


@pytest.fixture
def place(repo) -> Place:
    """Return a worktree with state of its own."""
    (repo / ".git" / "agentsync").mkdir()
    found = worktree(str(repo))
    assert found
    return found


def test_odd_state(place):
    """Every odd value in every place of our own small files is met without an error."""
    for content in every_odd(STATE):
        meet_state(place, content)


def test_any_state(place):
    """So is any other content of them."""

    @given(documents(STATE))
    def meet(content):
        meet_state(place, content)

    meet()


@pytest.fixture
def store(tmp_path) -> RecordStore:
    """Return a store with a record in it."""
    return full_store(tmp_path / "workspaces" / "w" / "tasks" / "t")


def test_odd_record(store, place):
    """Every odd value in every place of a record is met with our own error."""
    values = json.loads((store.directory / HOOK_JSON).read_bytes())
    # One of each kind is enough: the others have the same fields.
    short = {key: value[:1] if isinstance(value, list) else value for key, value in values.items()}
    # Every value and every place come in the sample; what is far deeper than they are comes first.
    contents = list(every_odd(short))
    for content in contents if PROVE else (*contents[:2], *contents[2::5]):
        meet_record(store, place, content)


def test_any_record(store, place):
    """So is any other content."""
    values = json.loads((store.directory / HOOK_JSON).read_bytes())

    @given(documents(values))
    def meet(content):
        meet_record(store, place, content)

    meet()


def test_odd_receipt(store):
    """Every odd value in every place of a receipt is met with our own error, also where its copy is looked for."""
    values = json.loads(receipt(0).model_dump_json())
    kept = OpenRecord(store, store.read())
    copy = store.directory / "artifacts" / "rcpt-odd.json"
    for content in every_odd(values):
        meet_receipt(content)
        copy.write_bytes(content)
        with contextlib.suppress(AgentSyncError):
            find_receipt("rcpt-odd", [kept])


def test_odd_tombstones(tmp_path):
    """Lines that cannot be read are passed over."""
    for content in every_odd({"task_id": "t", "reason": "r", "deleted": "d", "events": 1}):
        (tmp_path / TOMBSTONES).write_bytes(content)
        assert len(list(tombstones(tmp_path))) <= 1


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 400, "0", "99999999999"], ids=["5000", "400", "zero", "11"])
@pytest.mark.parametrize("command", [["claim"], ["worker", "sling"]], ids=" ".join)
def test_numbers_no_issue_has(repo, command, number):
    """A number that no issue can have is refused as such, before anybody is asked."""
    ran = run(*command, number, *(["w1"] if command[0] == "worker" else []), cwd=repo)
    assert ran.status == 2
    assert "unexpected" not in ran.stderr
    assert "Traceback" not in ran.stderr
    assert len(ran.stderr) < 1000
