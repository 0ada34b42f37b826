import json

import jsonschema
import pytest
from hypothesis import given, settings
from support.jsonc_files import tidy, untidy
from support.prove import PROVE

from agent_sync.errors import BadConfig
from agent_sync.setup.install import entries
from agent_sync.setup.install.claude import is_complete, missing_edits, without_ours
from agent_sync.setup.install.edits import apply_edits, undone
from agent_sync.setup.install.jsonc import read

FILE = ".claude/settings.json"
# Whole files take a while to make.
FEWER = settings() if PROVE else settings(max_examples=15)
HANDLER = {
    "type": "object",
    "required": ["type", "command", "timeout"],
    "properties": {
        "type": {"const": "command"},
        "command": {"type": "string", "minLength": 1},
        "timeout": {"type": "number", "exclusiveMinimum": 0},
        "asyncRewake": {"type": "boolean"},
    },
    "additionalProperties": False,
}
GROUP = {
    "type": "object",
    "required": ["hooks"],
    "properties": {"matcher": {"type": "string"}, "hooks": {"type": "array", "items": HANDLER, "minItems": 1}},
    "additionalProperties": False,
}
# The shape the client documents for its settings, as far as we use it.
SCHEMA = {
    "type": "object",
    "properties": {
        "hooks": {
            "type": "object",
            "propertyNames": {
                "enum": ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "Notification", "SessionEnd"],
            },
            "additionalProperties": {"type": "array", "items": GROUP},
        },
        "permissions": {
            "type": "object",
            "properties": {
                "allow": {"type": "array", "items": {"type": "string", "pattern": r"^(Bash|Read)\(.+\)$"}},
                "deny": {"type": "array", "items": {"type": "string", "pattern": r"^Read\(.+\)$"}},
            },
            "additionalProperties": False,
        },
        "statusLine": {
            "type": "object",
            "required": ["type", "command"],
            "properties": {
                "type": {"const": "command"},
                "command": {"type": "string"},
                "refreshInterval": {"type": "number", "minimum": 1},
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}


def full(text):
    return apply_edits(text, missing_edits(text, file=FILE))


def pruned(value):
    """Drop what holds nothing, which may go when ours is taken out by shape."""
    if isinstance(value, dict):
        inner = {key: pruned(one) for key, one in value.items()}
        return {key: one for key, one in inner.items() if one not in ({}, [])}
    return [one for one in map(pruned, value) if one not in ({}, [])] if isinstance(value, list) else value


def without_rules(value):
    """Drop the rules that look like ours, which by shape alone cannot be told from ours."""
    permissions = value.get("permissions", {})
    ours = {"allow": entries.ALLOWED, "deny": entries.DENIED}
    kept = {key: [rule for rule in permissions[key] if rule not in ours[key]] for key in ours if key in permissions}
    return value | ({"permissions": permissions | kept} if kept else {})


def test_new_file_has_the_documented_shape():
    """What is written where nothing was follows the client's documented shape, with timeouts in seconds."""
    values = json.loads(full(""))
    jsonschema.validate(values, SCHEMA)
    timeouts = {event: groups[0]["hooks"][0]["timeout"] for event, groups in values["hooks"].items()}
    assert timeouts == {
        "Stop": 600,
        "SessionStart": 30,
        "UserPromptSubmit": 20,
        "PostToolUse": 20,
        "Notification": 28800,
        "SessionEnd": 5,
    }
    assert "matcher" not in values["hooks"]["SessionStart"][0]
    assert values["hooks"]["PostToolUse"][0]["matcher"] == "Bash"
    assert values["hooks"]["Notification"][0]["matcher"] == "idle_prompt"
    assert values["hooks"]["Notification"][0]["hooks"][0]["asyncRewake"] is True


@FEWER
@given(untidy())
def test_merging_keeps_everything_and_can_be_undone(given_file):
    """Whatever the file looks like: ours is in, all else is there in its order, and undoing restores the bytes."""
    value, text = given_file
    edits = missing_edits(text, file=FILE)
    result = apply_edits(text, edits)
    assert undone(result, edits) == text
    assert is_complete(result, file=FILE)
    now = read(result).value
    assert list(now)[: len(value)] == list(value)
    for event, groups in value.get("hooks", {}).items():
        assert now["hooks"][event][: len(groups)] == groups
    assert now["statusLine"] == value.get("statusLine", entries.STATUS_LINE)
    assert {key: one for key, one in now.items() if key in {"model", "other"}} == {
        key: one for key, one in value.items() if key in {"model", "other"}
    }


@FEWER
@given(untidy())
def test_entries_are_recognised_without_memory(given_file):
    """Taken out by shape alone, nothing of ours stays and everything of others does."""
    value, text = given_file
    now = read(without_ours(full(text), file=FILE)).value
    assert pruned(now) == pruned(without_rules(value))


@FEWER
@given(tidy())
def test_tidy_files_are_restored_without_memory(given_file):
    """A file in one of the usual layouts gets its bytes back by shape alone, if it had no empty places of ours."""
    value, text = given_file
    if without_rules(value) == value and pruned(value) == value:
        assert without_ours(full(text), file=FILE) == text


@FEWER
@given(untidy())
def test_foreign_files_are_not_touched_by_taking_out(given_file):
    """A file without entries of ours stays as it is."""
    value, text = given_file
    if without_rules(value) == value:
        assert without_ours(text, file=FILE) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not json", "is not JSON"),
        ("[]", "holds no JSON object"),
        ('{"hooks": []}', "hooks is not an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
        ('{"permissions": {"allow": "x"}}', "permissions.allow is not a list"),
    ],
)
def test_files_we_cannot_merge_into_are_refused(text, reason):
    """A file that is not what the client expects is named, with the reason."""
    with pytest.raises(BadConfig, match=reason):
        missing_edits(text, file=FILE)


def test_handler_in_a_foreign_group_goes_alone():
    """Somebody who moved our handler into a group of theirs keeps the group."""
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "x"}, {"command": "agent-sync on-stop"}]}]}})
    assert read(without_ours(text, file=FILE)).value == {"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}


def test_older_entries_are_recognised():
    """An entry of an older version makes the file incomplete, and goes with the others."""
    text = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "agent-sync on-stop", "timeout": 30}]}]}}'
    both = full(text)
    assert not is_complete(both, file=FILE)
    assert read(without_ours(both, file=FILE)).value == {}


def test_shadowed_events_are_left_alone():
    """Of two members with one key only the last counts, and only that one is looked at."""
    text = '{"hooks": {"Stop": [{"hooks": [{"command": "agent-sync on-stop"}]}], "Stop": []}}'
    assert without_ours(text, file=FILE) == text


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_layout_is_taken_up(indent, ending):
    """New lines are indented and ended as the others are."""
    text = json.dumps({"a": 1}, indent=indent).replace("\n", ending)
    result = full(text)
    assert f'{ending}{indent}"hooks": {{{ending}{indent * 2}"SessionStart"' in result
    assert result.count("\n") == result.count(ending)


def test_comments_stay_with_their_lines():
    """A comment after the last member stays behind it."""
    text = '{\n  "a": 1 // why\n  // more\n}\n'
    assert full(text).startswith('{\n  "a": 1, // why\n  "hooks": {')
    assert full(text).endswith("\n  }\n  // more\n}\n")


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks":{ // note\n"Stop":[] /* two\nlines */ ,},}',
        '{"permissions":{"allow":["x", // note\n"Bash(agent-sync claim *)" /* two\nlines */ ,\n]}}',
        '{"permissions":{"allow":[ // note\n"Bash(agent-sync claim *)"]}}',
        '{"permissions":{"allow":[ // note\n"Bash(agent-sync claim *)" /* x */, "y"]}}',
    ],
)
def test_comments_never_swallow_what_follows(text):
    """Where a line comment comes before an entry of ours, taking the entry out leaves a file that can be read."""
    left = read(without_ours(full(text), file=FILE)).value
    assert pruned(left) == pruned(without_rules(read(text).value))
