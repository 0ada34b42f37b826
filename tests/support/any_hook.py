"""Work hooks of any content, and what everything that shows, counts and mends them makes of it."""

import json
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st
from support.work_hooks import NOW, WORKER, complete, failed, handed_off, slung

from agent_sync.errors import BadHook
from agent_sync.leases.refs.values import TooLarge, Where
from agent_sync.work.findings import findings
from agent_sync.work.forge import lines
from agent_sync.work.hook import moves
from agent_sync.work.hook.evidence import disagreements
from agent_sync.work.hook.layout import Files, files_of, hook_of, readable_files, stray_hashes
from agent_sync.work.hook.model import WorkHook
from agent_sync.work.hook.states import WorkState
from agent_sync.work.hook.view import HookCommit, HookSeen, WorkView, derived_states
from agent_sync.work.ledger_rows import evidence_rows, task_rows

HOOKS = [files_of(hook) for hook in (slung(), handed_off(), complete(), failed())]
NAMES = sorted({name for files in HOOKS for name in files})
texts = st.text(st.characters(), max_size=300) | st.text(st.characters(categories=["Cs", "Cc", "Cf"]), max_size=5)
times = st.datetimes(timezones=st.timezones() | st.just(UTC)).map(lambda at: at.isoformat())
numbers = st.integers() | st.floats() | st.sampled_from([10**400, 2**31, 2**63, 1e308, float("inf"), float("nan")])
leaves = st.none() | st.booleans() | numbers | texts | times | st.sampled_from(sorted(WorkState))
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
nested = st.integers(1, 20_000).map(lambda depth: b'{"schemaVersion":' + b"[" * depth + b"]" * depth + b"}")


@st.composite
def spoilt(draw: st.DrawFn) -> Files:
    """Return the files of a hook, one of them replaced, changed in some fields, or taken out."""
    files = dict(draw(st.sampled_from(HOOKS)))
    name = draw(st.sampled_from(NAMES))
    known = json.loads(files[name]) if name in files and name.endswith(".json") else {}
    fields = known if isinstance(known, dict) else {}
    others = st.dictionaries(st.sampled_from(sorted(fields)) | texts if fields else texts, values, max_size=3)
    other = others.map(lambda more: json.dumps(fields | more).encode())
    content = draw(st.binary(max_size=200) | nested | other | st.none() | st.just(TooLarge(10**9)))
    if content is None:
        return {path: text for path, text in files.items() if path != name}
    return files | {name: content}


def read(files: Files) -> tuple[WorkHook | None, str]:
    """Return the hook, or why it cannot be read."""
    try:
        return hook_of(files, name="main/w1"), ""
    except BadHook as error:
        return None, error.happened


def meet_hook(files: Files) -> None:
    """Reading raises nothing but our own error, and what it returns can be shown, counted, mended and written."""
    hook, damage = read(files)
    if hook is None:
        assert damage.isprintable()
        assert 0 < len(damage) < 1000
        assert findings(WorkView(Where.REMOTE, {WORKER: HookSeen(WORKER, "1" * 40, None, damage)}), NOW)
        return
    stray, wrong = stray_hashes(files, hook), disagreements(hook)
    view = WorkView(Where.REMOTE, {WORKER: HookSeen(WORKER, "1" * 40, hook, stray=stray)})
    for now in (NOW, NOW + timedelta(days=365 * 100), datetime(1990, 1, 1, tzinfo=UTC)):
        derived_states(view, hook, now)
        findings(view, now)
    assert hook_of(readable_files(hook), name="main/w1") == hook
    entries = [HookCommit(WORKER, "1" * 40, NOW.isoformat(), "x", hook)]
    assert lines([*task_rows(entries), *evidence_rows(entries)]) is not None
    assert all(isinstance(text, str) for text in wrong)
    if hook.task and hook.state in {WorkState.PENDING, WorkState.HANDED_OFF}:
        readable_files(moves.after_cancel(hook, NOW, "x").hook)
