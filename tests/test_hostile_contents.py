"""Every parser of a file or an input meets contents of any kind with our own errors, or an answer, and nothing else."""

import contextlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from support.claims import claim
from support.command import run
from support.hostile import documents, every_odd
from support.receipts import receipt
from support.stored_records import full_store

from agent_sync.errors import AgentSyncError
from agent_sync.events import statusline
from agent_sync.events.exchange import parse as parse_event
from agent_sync.record.disk.beginning import _next_index
from agent_sync.record.disk.contents import NO_OCCASION, UnreadInput
from agent_sync.record.disk.deletion import TOMBSTONES, tombstones
from agent_sync.record.disk.recorder import Home, active_record
from agent_sync.record.disk.store import HOOK_JSON, PREVIOUS, OpenRecord, RecordStore, disk_errors
from agent_sync.record.receipts.proof import find_receipt
from agent_sync.record.receipts.receipt import from_values
from agent_sync.task.claim.model import parse as parse_claim
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.decision.notice import Notice
from agent_sync.task.notes import Memory
from agent_sync.task.outbox import Outbox
from agent_sync.worktree import Place, worktree

LEASE = {"where": "remote", "epoch": 1, "nonce": "n", "renewed_at": "2026-11-16T12:00:00Z", "ttl_s": 3600.0}
CHECKS = {"sha": "a" * 40, "passed": 1, "total": 2, "state": "failed"}
CLAIM = json.loads(claim().to_json()) | {"lease": LEASE, "checks": CHECKS, "not_before": None, "close_unmerged": True}
EVENT = {"cwd": "/", "session_id": "s", "stop_hook_active": False, "prompt": "x", "background_tasks": []}
STATE = {
    "waiting": [{"id": "a", "text": "b"}],
    "told": ["a"],
    "42": "octo-1",
    "main": "2026-11-16T12:00:00+00:00",
    "last_assistant_message": "x",
    "prompt": "y",
}
LARGEST_NUMBER = 10**10


def meet_claim(content: bytes) -> None:
    """A claim is read and can be written again, or is refused with our own error."""
    with contextlib.suppress(AgentSyncError):
        found = parse_claim(content, file=".agent-claim.json")
        assert parse_claim(found.to_json(), file="again") == found
        assert found.issue_number < LARGEST_NUMBER
        assert (found.pr_number or 1) < LARGEST_NUMBER
    # The status line reads the same file, and is one line whatever it holds.
    line = statusline.line_of(content)
    assert "\n" not in line
    assert len(line) < 200


def meet_event(content: bytes) -> None:
    """An input is an event, or none."""
    for trigger in Trigger:
        event = parse_event(trigger, content)
        assert event is None or isinstance(event.cwd, str)
        assert event is None or isinstance(event.subagents, int)
    statusline._directories(content)


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


def meet_state(place: Place, content: bytes) -> None:
    """Notices, memory and spool are used or forgotten; what is used has the right kind."""
    for name in ("outbox.json", "claims.json", "looks.json", "spool.on-stop", "spool.on-prompt"):
        (Path(place.state_dir) / name).write_bytes(content)
    box, memory = Outbox(place), Memory(place)
    assert all(isinstance(notice.text, str) and isinstance(notice.id, str) for notice in box.waiting())
    assert all(isinstance(told, str) for told in box.known_ids())
    box.drop(("x",))
    box.forget(("x",))
    box.add([Notice("x:1", "said")])
    memory.own_ids()
    assert memory.agent_of(42) is None or isinstance(memory.agent_of(42), str)
    seen = memory.last_look("main")
    assert seen is None or seen.tzinfo
    memory.remember_claim(43, "octo-2")
    memory.remember_look("main", datetime.now(UTC))
    found = UnreadInput(place).added_to(NO_OCCASION)
    assert isinstance(found.said + found.prompt, str)


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


def meet_record(store: RecordStore, place: Place, content: bytes) -> None:
    """A record is read, or is refused with our own error; so is one that only looks whole, and all that lies beside."""
    for name in (HOOK_JSON, "task.json", "task.log", "hook-history-0000.jsonl"):
        (store.directory / name).write_bytes(content + b"\n")
    (store.directory / PREVIOUS).unlink(missing_ok=True)
    home = Home(store.directory.parents[3])
    (home.root / "index.json").write_bytes(content)
    (Path(place.state_dir) / "record").write_bytes(b"w/t\n")
    with contextlib.suppress(AgentSyncError):
        found = store.read()
        if found:
            store.integrity(found)
            store.update(lambda one: one.model_copy(update={"branch": "next"}), found.updated_at)
    for look in (lambda: active_record(place, home), lambda: _next_index(home)):
        with contextlib.suppress(AgentSyncError), disk_errors("looking"):
            look()
    for copy in store.damaged_copies():
        copy.unlink()


def test_odd_record(store, place):
    """Every odd value in every place of a record is met with our own error."""
    values = json.loads((store.directory / HOOK_JSON).read_bytes())
    # One of each kind is enough: the others have the same fields.
    short = {key: value[:1] if isinstance(value, list) else value for key, value in values.items()}
    for content in every_odd(short):
        meet_record(store, place, content)


def test_any_record(store, place):
    """So is any other content."""
    values = json.loads((store.directory / HOOK_JSON).read_bytes())

    @given(documents(values))
    def meet(content):
        meet_record(store, place, content)

    meet()


def meet_receipt(content: bytes) -> None:
    """A receipt is read, or is refused with our own error."""
    with contextlib.suppress(ValueError, RecursionError):
        values = json.loads(content)
        with contextlib.suppress(AgentSyncError):
            from_values(values)


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
