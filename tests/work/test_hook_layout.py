"""A hook as files, and back."""

import json

import pytest
from support.work_hooks import NOW, complete, failed, handed_off, result, slung, started, task

from agent_sync.errors import BadHook, HookTooNew
from agent_sync.work.hook import moves
from agent_sync.work.hook.evidence import disagreements, json_hash, task_hash
from agent_sync.work.hook.layout import files_of, hook_of, stray_hashes
from agent_sync.work.hook.model import HookContext, HookResult, HookTask

HOOKS = {
    "slung": slung(),
    "started": started(),
    "handed off": handed_off(),
    "complete": complete(),
    "failed": failed(),
    "cleared": moves.after_clear(complete(), NOW, "x").hook,
}


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_files_say_everything(hook):
    """What is written is read back as it was."""
    files = files_of(hook)
    assert hook_of(files, name="main/w1") == hook
    assert (disagreements(hook), stray_hashes(files, hook)) == ((), ())


def test_files_have_the_documented_names():
    """Names and fields are the documented ones."""
    files = files_of(complete())
    assert sorted(files) == [
        "attempts.json", "context.json", "evidence/input-hash.txt", "evidence/output-hash.txt",
        "result.json", "status.json", "task.json",
    ]  # fmt: skip
    assert json.loads(files["status.json"])["status"] == "COMPLETE"
    said = json.loads(files["result.json"])
    assert set(said) == {"taskId", "status", "output", "evidence"}
    assert set(said["evidence"]) == {"inputHash", "outputHash", "timestamp", "commit", "tree"}
    assert set(json.loads(files["context.json"])) == {"taskId", "taskHash", "tools"}
    assert "handoff.json" in files_of(handed_off())
    assert "resume_point" in json.loads(files_of(handed_off())["handoff.json"])


def broken(name, content):
    """Return the files of a complete hook, one of them spoilt."""
    files = files_of(complete())
    if content is None:
        del files[name]
    else:
        files[name] = content
    return files


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("status.json", None, "has no status.json"),
        ("status.json", b"", "status.json"),
        ("status.json", b"[]", "status.json"),
        ("status.json", b'{"schemaVersion":1,"status":"RUNNING","since":"2026-11-16T12:00:00Z"}', '"status": Input'),
        ("task.json", b"{", "task.json"),
        ("task.json", None, "lacks task.json"),
        ("context.json", None, "lacks context.json"),
        ("result.json", None, "lacks result.json"),
        ("attempts.json", b"{}", "attempts.json"),
        ("result.json", b'{"taskId":"x"}', "result.json"),
    ],
)
def test_damage_has_a_reason(name, content, says):
    """What cannot be read is damage, never an empty hook."""
    with pytest.raises(BadHook, match=says):
        hook_of(broken(name, content), name="main/w1")


def test_newer_hook_is_refused():
    """A hook of a newer agent-sync is told apart from damage."""
    status = json.loads(files_of(complete())["status.json"]) | {"schemaVersion": 2, "novel": 1}
    with pytest.raises(HookTooNew, match="schemaVersion 2"):
        hook_of(broken("status.json", json.dumps(status).encode()), name="main/w1")


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        ("task.json", {"input": {"issue": 42, "title": "Another"}}, ["context.json names", "input hash does not"]),
        ("task.json", {"id": "issue-43"}, ["context.json is about", "names another", "result.json is about"]),
        ("result.json", {"output": {"patch": "forged"}}, ["the output hash does not match"]),
        ("status.json", {"status": "FAILED"}, ["result.json says COMPLETE, status.json FAILED"]),
    ],
    ids=["other input", "other task", "other output", "other state"],
)
def test_evidence_is_recomputed(name, changes, says):
    """A changed file no longer fits the hashes."""
    files = files_of(complete())
    values = json.loads(files[name]) | changes
    found = disagreements(hook_of(broken(name, json.dumps(values).encode()), name="main/w1"))
    assert len(found) == len(says)
    assert all(part in text for part, text in zip(says, found, strict=True))


def test_hash_file_that_differs_is_told():
    """The hashes beside the result are checked too."""
    files = broken("evidence/output-hash.txt", b"0" * 64 + b"\n")
    assert stray_hashes(files, hook_of(files, name="main/w1")) == (
        "evidence/output-hash.txt does not say what is there",
    )


def test_hash_does_not_depend_on_the_order():
    """One value has one hash."""
    assert json_hash({"a": 1, "b": "ä"}) == json_hash({"b": "ä", "a": 1})
    assert task_hash(task()) == json_hash(task().values())


@pytest.mark.parametrize(
    ("shape", "values"),
    [
        (HookContext, {"taskId": "issue-1", "taskHash": "0" * 64, "tools": ["a", "b", "c", "d", "e", "f"]}),
        (HookTask, {"id": "issue-1", "type": "code", "input": [], "assigned": "2026-11-16T12:00:00Z"}),
        (HookTask, {"id": "issue-1", "type": "code", "input": {}, "assigned": "2026-11-16T12:00:00"}),
        (HookTask, {"id": "issue-1", "type": "code", "input": {}, "assigned": "2026-11-16T12:00:00Z", "odd": 1}),
        (HookResult, json.loads(files_of(complete())["result.json"]) | {"status": "FAILED"}),
        (HookResult, json.loads(files_of(failed())["result.json"]) | {"status": "COMPLETE"}),
        (HookResult, json.loads(files_of(complete())["result.json"]) | {"status": "PARTIAL"}),
    ],
    ids=["six tools", "input no object", "time without zone", "unknown field", "no error", "stray error", "odd status"],
)
def test_schema_is_strict(shape, values):
    """What the schema does not know is refused."""
    with pytest.raises(ValueError, match="validation error"):
        shape.model_validate_json(json.dumps(values))


def test_result_of_its_own_making_is_valid():
    """The schema takes what we write."""
    hook = started()
    assert HookResult.model_validate_json(json.dumps(result(hook).values())) == result(hook)
