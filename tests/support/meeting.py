"""What each reader of ours does with contents of any kind: an answer or our own error, and nothing else."""

import contextlib
import json
from datetime import UTC, datetime
from pathlib import Path

from support.claims import claim

from agent_sync.errors import AgentSyncError
from agent_sync.events import statusline
from agent_sync.events.exchange import parse as parse_event
from agent_sync.record.disk.beginning import _next_index
from agent_sync.record.disk.contents import NO_OCCASION, UnreadInput
from agent_sync.record.disk.recorder import Home, active_record
from agent_sync.record.disk.store import HOOK_JSON, PREVIOUS, RecordStore, disk_errors
from agent_sync.record.receipts.receipt import from_values
from agent_sync.task.claim.model import parse as parse_claim
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.decision.notice import Notice
from agent_sync.task.notes import Memory
from agent_sync.task.outbox import Outbox
from agent_sync.worktree import Place

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


def meet_state(place: Place, content: bytes) -> None:
    """Notices, memory and spool are used or forgotten; what is used has the right kind."""
    for name in ("outbox.json", "claims.json", "branch-looks.json", "spool.on-stop", "spool.on-prompt"):
        (Path(place.state_dir) / name).write_bytes(content)
    box, memory = Outbox(place), Memory(place)
    assert all(type(notice.text) is type(notice.id) is str for notice in box.waiting())
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


def meet_receipt(content: bytes) -> None:
    """A receipt is read, or is refused with our own error."""
    with contextlib.suppress(ValueError, RecursionError):
        values = json.loads(content)
        with contextlib.suppress(AgentSyncError):
            from_values(values)
