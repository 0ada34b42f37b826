"""Everything of ours that reads what others may have written, each with contents that nobody's program would write."""

import contextlib
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed as seeded, settings, strategies as st
from support.any_hook import meet_hook, spoilt
from support.any_lease import any_lease, any_note, meet_lease, meet_note
from support.hostile import documents, spelled
from support.meeting import CLAIM, EVENT, STATE, meet_claim, meet_event, meet_receipt, meet_record, meet_state
from support.receipts import receipt
from support.stored_records import begun_record, full_store

from agent_sync.cli.fleet.alarm import _read as read_alarms
from agent_sync.context import context_at
from agent_sync.errors import AgentSyncError
from agent_sync.fleet.budget import SharedBudget, paused_until
from agent_sync.fleet.reading import _work_hook as read_work_hook
from agent_sync.gates.config.project import load_project
from agent_sync.gates.memory import failures, passes, state as gate_state, told
from agent_sync.gates.reviews import findings as reviews
from agent_sync.gateway.transport.trouble import of_response
from agent_sync.leases.intents import Intents
from agent_sync.quiet.answer import read_stamp
from agent_sync.record.disk.ending import _noted as read_ending
from agent_sync.record.disk.store import HOOK_JSON
from agent_sync.record.machine.model import ReflogPosition
from agent_sync.record.observe.reflogs import end_of, kind_of, portion_of, subject_in
from agent_sync.settings import load
from agent_sync.settings.approvals import ApprovalRequest, Approvals
from agent_sync.setup.install import jsonc
from agent_sync.task.issue_notes import kept_brief
from agent_sync.work.identity import bound_worker
from agent_sync.worktree import GATE_FAILURE, GATE_STATE, GATE_TOLD, Place, worktree

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MOMENT = "2026-03-01T12:00:00+00:00"


@dataclass(frozen=True)
class Reader:
    """One thing we read: contents of every kind, and what must hold when they are met."""

    contents: st.SearchStrategy[Any]
    meet: Callable[[Any], None]

    def try_out(self, seed: int, count: int) -> None:
        """Meet a number of contents, always the same for the same seed; raise whatever is not our own error."""
        quick = settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        quick(seeded(seed)(given(self.contents)(self.meet)))()


def place_in(directory: Path) -> Place:
    """Make a repository with state of its own."""
    root = directory / "repo"
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    (root / ".git" / "agentsync").mkdir()
    found = worktree(str(root))
    assert found
    return found


def _in_file(file: Path, like: dict[str, Any], read: Callable[[], object]) -> Reader:
    """Return a reader of one file, which must leave its bytes alone and raise nothing but our own error."""
    return _with_contents(file, documents(like), read)


def _with_contents(file: Path, contents: st.SearchStrategy[bytes], read: Callable[[], object]) -> Reader:
    file.parent.mkdir(parents=True, exist_ok=True)

    def meet(content: bytes) -> None:
        file.write_bytes(content)
        with contextlib.suppress(AgentSyncError):
            read()
        assert file.read_bytes() == content

    return Reader(contents, meet)


def _state(directory: Path) -> Reader:
    place = place_in(directory)
    return Reader(documents(STATE), lambda content: meet_state(place, content))


def _record(directory: Path) -> Reader:
    place = place_in(directory)
    store = full_store(directory / "workspaces" / "w" / "tasks" / "t")
    values = json.loads((store.directory / HOOK_JSON).read_bytes())
    return Reader(documents(values), lambda content: meet_record(store, place, content))


def _settings(directory: Path) -> Reader:
    place = place_in(directory)
    names = st.sampled_from(["project.number", "checks.backoff_s", "gate.parallel", "pr.checklist", "notify", "x"])
    values = st.one_of(
        spelled, st.sampled_from(["1979-05-27T07:32:00Z", "[[1]]", "{a = 1}", "'''x'''", "0x" + "f" * 99])
    )
    lines = st.lists(st.tuples(names, values).map(" = ".join), max_size=3).map("\n".join)
    contents = st.one_of(st.binary(max_size=200), lines.map(_bytes))
    return _with_contents(Path(place.settings_file), contents, lambda: load(place, {"HOME": str(directory)}))


def _gate_files(name: str) -> Callable[[Path], Reader]:
    def reader(directory: Path) -> Reader:
        root = directory / "project"
        config = "base_branch: main\nentry_points:\n  - path: .\n    checks: [ok]\n    reviews: [good]\n"
        others = {"config.yml": config, "checks/ok.yml": "command: 'true'\n", "reviews/good.md": "---\n---\nLook.\n"}
        for other, text in others.items():
            (root / ".gauntlet" / other).parent.mkdir(parents=True, exist_ok=True)
            (root / ".gauntlet" / other).write_text(text)
        keys = st.sampled_from(["base_branch", "entry_points", "command", "timeout", "cli", "log_dir", "num_reviews"])
        odd = st.sampled_from(["&a [*a]", "!!python/object:x {}", "<<: {a: 1}", "|\n  x", "2026-01-01", "0o9", "? [a]"])
        lines = st.lists(st.tuples(keys, st.one_of(spelled, odd)).map(": ".join), max_size=3).map("\n".join)
        contents = st.one_of(
            st.binary(max_size=200), lines.map(_bytes), lines.map(lambda text: _bytes(f"---\n{text}\n---\nx"))
        )
        return _with_contents(root / ".gauntlet" / name, contents, lambda: load_project(root))

    return reader


def _gate_memory(directory: Path) -> Reader:
    place = place_in(directory)
    state, logs = Path(place.state_dir), directory / "logs"
    logs.mkdir()
    key = "0" * 64
    like: dict[str, object] = {
        "key": key, "session": "s", "message": "m", "console_log": "", "results": [], "jobs": ["a"], "warnings": [],
        "tree": "a" * 40, "status": "passed", "at": MOMENT, "last_run_completed_at": MOMENT, "branch": "b", "commit": "c",
    }  # fmt: skip
    reads: dict[Path, Callable[[], object]] = {
        logs / GATE_STATE: lambda: gate_state.read(logs),
        passes._file(place, key): lambda: passes.recall(place, key),
        state / GATE_FAILURE: lambda: failures.take_failure(place, key=key, session="s"),
        state / GATE_TOLD: lambda: told._earlier(state / GATE_TOLD),
        logs / "review.json": lambda: reviews.read_stored(logs / "review.json"),
    }

    def meet(content: bytes) -> None:
        for file, read in reads.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            read()
        reviews.read_answer(content.decode(errors="replace"))

    return Reader(documents(like), meet)


def _small_files(directory: Path) -> Reader:
    place = place_in(directory)
    context = context_at(place, dict(os.environ) | {"HOME": str(directory)})
    state, shared = Path(place.state_dir), Path(place.shared_dir)
    asked = ApprovalRequest("gate.command", "x", source="x", why="y")
    like: dict[str, object] = {
        "verb": "acquire", "issue": 7, "old": "", "new": "a" * 40, "nonce": "n", "epoch": 1, "at": MOMENT, "times": 1,
        "k": {"left": 1, "limit": 2, "resets_at": MOMENT}, "42": {"at": MOMENT, "times": 1}, "name": "main/w1", "title": "t",
        "number": 7, "sessions": {"s": "main/w1"}, "status": "PENDING", "task": "w/t", "given_up": "too hard",
    }  # fmt: skip
    reads: dict[Path, Callable[[], object]] = {
        shared / "intents" / "7-w.json": lambda: Intents(place, "w").pending(7),
        directory / "budget.json": lambda: paused_until(SharedBudget(directory, "k").read(), 100, NOW),
        shared / "trust.json": lambda: Approvals(place).holds(asked),
        shared / "told.json": lambda: read_alarms(shared / "told.json"),
        state / "worker.json": lambda: bound_worker(context, session_id="s"),
        state / "issue.json": lambda: kept_brief(place, 7),
        state / "record-ending": lambda: read_ending(place, begun_record(workspace="w", task_id="t")),
        state / "quiet.on-stop": lambda: read_stamp(str(state / "quiet.on-stop")).seconds_left(),
    }

    def meet(content: bytes) -> None:
        for file, read in reads.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            with contextlib.suppress(AgentSyncError):
                read()
        read_work_hook("main/w1", content)

    return Reader(documents(like), meet)


def _client_settings(_directory: Path) -> Reader:
    def meet(content: bytes) -> None:
        with contextlib.suppress(jsonc.NotJson):
            jsonc.read(content.decode(errors="replace"))

    comments = st.sampled_from([b"// x\n", b"/* x */", b"/*", b",", b"\xef\xbb\xbf"])
    noisy = st.tuples(comments, documents({"hooks": {"Stop": []}, "env": {}}), comments).map(b"".join)
    return Reader(noisy, meet)


def _reflogs(directory: Path) -> Reader:
    log = directory / "HEAD"
    line = b"%s %s A <a@x> 1700000000 +0000\tcommit: x\n" % (b"0" * 40, b"a" * 40)
    parts = st.one_of(
        st.just(line), st.binary(max_size=80), st.sampled_from([b"\n", b"\t", b"9" * 30, b" +9999\tpush\n"])
    )
    seen = st.builds(ReflogPosition, offset=st.integers(0, 500), last=st.sampled_from(["", "a" * 40, "b" * 40, "x"]))

    def meet(found: tuple[bytes, ReflogPosition]) -> None:
        content, position = found
        log.write_bytes(content)
        for portion in (end_of(log), portion_of(log, position)):
            for entry in portion.entries if portion else ():
                kind_of(entry)
                subject_in(entry)
        assert log.read_bytes() == content

    return Reader(st.tuples(st.lists(parts, max_size=6).map(b"".join), seen), meet)


def _refusals(_directory: Path) -> Reader:
    names = (
        "retry-after",
        "x-ratelimit-reset",
        "x-ratelimit-remaining",
        "date",
        "location",
        "x-github-sso",
        "content-type",
    )
    headers = st.dictionaries(st.sampled_from(names), st.text(max_size=20) | spelled, max_size=4)
    bodies = documents({"message": "x", "errors": [{"message": "y"}], "documentation_url": "z"})

    def meet(found: tuple[int, dict[str, str], bytes]) -> None:
        status, given_headers, body = found
        of_response(status, given_headers, body.decode(errors="replace"), NOW)

    return Reader(st.tuples(st.sampled_from([200, 301, 400, 401, 403, 404, 422, 429, 500, 502]), headers, bodies), meet)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


READERS: dict[str, Callable[[Path], Reader]] = {
    "claim file": lambda _: Reader(documents(CLAIM), meet_claim),
    "lease of a claim file": lambda _: Reader(any_note, meet_note),
    "input of a hook": lambda _: Reader(documents(EVENT), meet_event),
    "outbox, memory and spool": _state,
    "record and its archives": _record,
    "receipt": lambda _: Reader(documents(json.loads(receipt(0).model_dump_json())), meet_receipt),
    "lease": lambda _: Reader(any_lease, meet_lease),
    "work hook": lambda _: Reader(spoilt(), meet_hook),
    "settings": _settings,
    "gate configuration": _gate_files("config.yml"),
    "check of a gate": _gate_files("checks/ok.yml"),
    "review of a gate": _gate_files("reviews/good.md"),
    "memory of a gate": _gate_memory,
    "small state files": _small_files,
    "settings of Claude Code": _client_settings,
    "reflog": _reflogs,
    "refusal of GitHub": _refusals,
}
