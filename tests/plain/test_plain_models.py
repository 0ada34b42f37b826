"""What is read without pydantic is what pydantic would have read."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st
from support.claims import claim
from support.hostile import plain_values
from support.odd_values import FLOATS, NUMBERS, TEXTS, places, replaced, without
from support.prove import PROVE

from agent_sync.gates.config.tables import CheckFile, ConfigFile, EntryPointTable, ReviewFile, UserFile
from agent_sync.plain import ordinary
from agent_sync.plain.derived import pydantic_model, validated
from agent_sync.plain.fields import Refused
from agent_sync.settings import Settings
from agent_sync.task.claim.drift_seen import NO_DRIFT, IssueChange
from agent_sync.task.claim.model import Claim, FailuresSeen, FeedbackSeen
from agent_sync.task.claim.phases import Phase, WithheldBy

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
LEASE = {"where": "remote", "epoch": 1, "nonce": "n", "renewed_at": "2026-11-16T12:00:00Z", "ttl_s": 3600.0}
# Every field set, as agent-sync writes it.
CLAIM = {
    **claim(Phase.PR_CREATED, pr_number=7, last_check_poll=NOW, not_before=NOW, draft=True).model_dump(mode="json"),
    "refused_status": "Blocked",
    "refused_at": "2026-11-16T12:00:00.5+02:00",
    "theirs": {"kept": [1, "é"]},
    "checks": {"sha": "a" * 40, "passed": 1, "total": 2, "state": "red", "failed": ["lint"], "missing": []},
    "feedback": FeedbackSeen(threads=2).model_dump(mode="json"),
    "failures": FailuresSeen(runs=("1",)).model_dump(mode="json"),
    "drift": NO_DRIFT.model_dump(mode="json") | {"issue": "closed"},
    "withheld": {"by": "gate", "reason": "red"},
    "lease": LEASE | {"left_on": ""},
}
SETTINGS = Settings().model_dump() | {"templates": {"mine": {"steps": ["one"], "idempotent": ["one"]}}}
# Gate files with every key set.
ENTRY = {"path": "src", "exclude": ("src/gen/**",), "checks": ("lint",), "reviews": ("quality",)}
CHECK = {
    "name": 1,
    "command": "make\nmake “größer”\n",
    "rerun_command": "make again",
    "working_directory": "src",
    "parallel": True,
    "run_in_ci": False,
    "run_locally": True,
    "timeout": 60,
    "fail_fast": False,
    "fix_instructions_file": "fix.md",
    "fix_instructions": "old.md",
    "fix_with_skill": "fix",
}
REVIEW = {
    "name": "n",
    "prompt_file": "p.md",
    "skill_name": "s",
    "builtin": "security",
    "model": "opus",
    "cli_preference": ("codex",),
    "num_reviews": 2,
    "parallel": False,
    "timeout": 1.5,
    "enabled": False,
}
GATES = {
    "base_branch": "origin/trunk",
    "log_dir": "logs",
    "allow_parallel": False,
    "max_retries": 5,
    "max_previous_logs": 0,
    "rerun_new_issue_threshold": "high",
    "entry_points": (ENTRY, {"path": "."}),
    "cli": {
        "default_preference": ("claude",),
        "adapters": {"claude": {"allow_tool_use": False, "thinking_budget": "high", "model": "opus"}},
        "check_usage_limit": True,
    },
    "stop_hook": {"enabled": True, "run_interval_minutes": 3, "auto_push_pr": True, "auto_fix_pr": {"x": 1}},
    "debug_log": {"enabled": True, "max_size_mb": 1},
    "logging": {"level": "info", "console": {"enabled": True, "format": "json"}, "file": {"format": "text"}},
}
USER = {"stop_hook": {"enabled": False, "run_interval_minutes": 20.0}, "debug_log": {"enabled": True}}
WELL_FORMED = {
    Claim: CLAIM,
    Settings: SETTINGS,
    ConfigFile: GATES,
    EntryPointTable: ENTRY,
    CheckFile: CHECK,
    ReviewFile: REVIEW,
    UserFile: USER,
}
MOMENTS = (NOW, NOW.replace(tzinfo=None), NOW.astimezone(timezone(timedelta(minutes=-90))))
OTHERS = (None, True, False, (), ("x",), [], ["x"], [1], [""], ["x"] * 101, {}, {"x": 1})
# What no JSON can bring, or pydantic cannot write.
UNWRITTEN = ({"\ud800": 1}, b"x", {1: "x"}, {"x": (1,)}, object())
MEMBERS = (*Phase, *WithheldBy, *IssueChange)
ODD = (*NUMBERS, *FLOATS, *TEXTS, *MOMENTS, *OTHERS, *MEMBERS)
# How many places, one after the other, share the odd values among them.
SHARING = 1 if PROVE else 5


def outcome(kind, read, values):
    """Return what reading has led to."""
    try:
        found = read(kind, values)
    except (ordinary.NotOrdinary, Refused, OverflowError) as error:
        return type(error), None
    return None, found


def must_agree(kind, values, *, is_written=True):
    """Compare both ways of reading, and of writing what was read; tell whether the values were ordinary."""
    trouble, plain = outcome(kind, lambda kind, values: ordinary.read(kind, values, is_json=False), values)
    other_trouble, other = outcome(kind, validated, values)
    is_ordinary = trouble is not ordinary.NotOrdinary
    assert not is_ordinary or (trouble, repr(plain)) == (other_trouble, repr(other))
    # Only claims are written back.
    if other is not None and is_written and kind is Claim:
        model = pydantic_model(kind).model_validate(values)
        for mode in ("json", "python"):
            assert repr(other.model_dump(mode=mode)) == repr(model.model_dump(mode=mode))
            less = other.model_dump(mode=mode, exclude_defaults=True)
            assert repr(less) == repr(model.model_dump(mode=mode, exclude_defaults=True))
    return is_ordinary


@pytest.mark.parametrize("kind", WELL_FORMED, ids=lambda kind: kind.__name__)
def test_what_is_well_formed_is_ordinary(kind):
    """Values as agent-sync writes them, and whatever it has read, are read without pydantic, and read alike."""
    values = WELL_FORMED[kind]
    assert must_agree(kind, values)
    assert must_agree(kind, kind.model_validate(values).model_dump())


@pytest.mark.parametrize("kind", WELL_FORMED, ids=lambda kind: kind.__name__)
def test_an_odd_value_in_any_place_is_read_alike(kind):
    """Each odd value in each place is left to pydantic, or read as pydantic reads it; so is a value that is missing."""
    values = WELL_FORMED[kind]
    for number, place in enumerate(places(values)):
        must_agree(kind, without(values, place))
        for value in ODD[number % SHARING :: SHARING]:
            must_agree(kind, replaced(values, place, value))
        for value in UNWRITTEN:
            must_agree(kind, replaced(values, place, value), is_written=False)


@pytest.mark.parametrize("kind", WELL_FORMED, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_any_values_are_read_alike(kind, data):
    """Whatever stands in several places at once is left to pydantic, or read as pydantic reads it."""
    values = WELL_FORMED[kind]
    for place in data.draw(st.lists(st.sampled_from(list(places(values))), max_size=3)):
        if all(isinstance(found, dict) for found in above(values, place)):
            values = replaced(values, place, data.draw(plain_values | st.sampled_from(ODD)))
    must_agree(kind, values)


def above(values, place):
    """Yield the objects that a place is in, as far as they are still there."""
    for key in place[:-1]:
        values = values.get(key) if isinstance(values, dict) else None
        yield values


def test_a_value_is_frozen_and_compared_by_its_fields():
    """A value cannot be changed; two with the same fields are equal and have one hash, another field makes another."""
    one, same = FailuresSeen(sha="a"), FailuresSeen.model_validate({"sha": "a"})
    assert (one, hash(one)) == (same, hash(same))
    assert one != one.model_copy(update={"rounds": 1})
    assert one != one.model_copy(update={"later": 1})
    with pytest.raises(AttributeError):
        one.sha = "b"
    with pytest.raises(AttributeError):
        del one.sha
