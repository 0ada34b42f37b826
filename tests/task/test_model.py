import json

import pytest
from support.claims import claim

from agent_sync.errors import BadClaim, ClaimTooNew
from agent_sync.task.claim.model import parse
from agent_sync.task.claim.phases import Phase

DOCUMENTED = {
    "schema_version": 1,
    "item_id": "PVTI_lADOBx",
    "issue_number": 42,
    "branch": "claude/fix-thing-42",
    "agent_id": "edouard-1738000000",
    "phase": "coding",
    "summary": "",
    "status": "In Progress",
    "pr_number": None,
    "last_check_poll": None,
    "last_synced_status": "In Progress",
}


def parsed(**changes):
    return parse(json.dumps(DOCUMENTED | changes).encode(), file=".agent-claim.json")


def test_documented_file_round_trips():
    """The documented example is read and written back with the same fields, values and order."""
    written = json.loads(parsed().to_json())
    assert list(DOCUMENTED.items()) == list(written.items())


def test_unknown_fields_survive():
    """A field that is none of ours is written back as it was, after the documented ones."""
    written = json.loads(parsed(mine={"a": [1, None]}).to_json())
    assert written["mine"] == {"a": [1, None]}
    assert list(written)[-1] == "mine"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"phase": "codign"},
            'phase is "codign"; allowed: coding, ready_for_pr, pr_created, checks_running, merged_detected, done',
        ),
        ({"phase": None}, "phase is null; allowed: coding"),
        ({"issue_number": "42"}, 'issue_number is "42": input should be a valid integer'),
        ({"issue_number": 0}, "issue_number is 0: input should be greater than or equal to 1"),
        ({"pr_number": True}, "pr_number is true: input should be a valid integer"),
        ({"branch": 7}, "branch is 7: input should be a valid string"),
        ({"schema_version": "1"}, 'schema_version is "1"; allowed: 1'),
        ({"schema_version": 0}, "schema_version is 0; allowed: 1"),
    ],
)
def test_wrong_field_is_named(changes, expected):
    """The message names file, field, value and what is allowed, and says that nothing was done."""
    with pytest.raises(BadClaim) as error:
        parsed(**changes)
    assert expected in str(error.value)
    assert str(error.value).startswith(".agent-claim.json: ")
    assert "nothing was done on GitHub" in str(error.value)


@pytest.mark.parametrize("field", ["schema_version", "issue_number", "phase"])
def test_missing_field_is_named(field):
    """The three fields nothing can be done without are asked for by name."""
    values = {key: value for key, value in DOCUMENTED.items() if key != field}
    with pytest.raises(BadClaim, match=f"{field} is missing"):
        parse(json.dumps(values).encode(), file="f")


def test_newer_schema_is_refused():
    """A file of a newer schema is refused with the version it has and the one we know."""
    with pytest.raises(ClaimTooNew, match="schema_version is 2; this agent-sync knows 1"):
        parsed(schema_version=2)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'"x"', b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":1}{'])
def test_content_that_is_no_object_is_refused(content):
    """Whatever is in the file, the answer is a message, never another kind of error."""
    with pytest.raises(BadClaim):
        parse(content, file="f")


@pytest.mark.parametrize("moment", ["yesterday", "", 12, [], {}, "2026-13-01T00:00:00Z"])
def test_unreadable_poll_time_means_never(moment):
    """A last_check_poll that cannot be read means that the checks were never looked at."""
    assert parsed(last_check_poll=moment).last_check_poll is None


@pytest.mark.parametrize("moment", ["2026-11-16T12:00:00Z", "2026-11-16T12:00:00+00:00", "2026-11-16T12:00:00"])
def test_poll_time_is_utc(moment):
    """Poll times are read as UTC, whatever the machine's zone."""
    assert parsed(last_check_poll=moment).last_check_poll.isoformat() == "2026-11-16T12:00:00+00:00"


def test_null_texts_are_empty():
    """A null where a text belongs is an empty text: that is what people mean by it."""
    assert parsed(summary=None, branch=None).summary == ""


def test_own_fields_are_written_only_when_set():
    """Fields of ours stay out of the file until they say something."""
    assert "draft" not in json.loads(claim().to_json())
    assert json.loads(claim(draft=True).to_json())["draft"] is True


def test_phases_are_the_documented_ones():
    """The six phases, by the words that stand in files."""
    expected = ["coding", "ready_for_pr", "pr_created", "checks_running", "merged_detected", "done"]
    assert expected == [str(phase) for phase in Phase]


def test_work_left_on_a_hook_by_an_older_version_is_not_lost():
    """0.1.0 wrote work that was left on a hook down as a loss; it is read as what it was."""
    lease = {"where": "remote", "epoch": 1, "nonce": "n", "renewed_at": "2026-11-16T12:00:00Z", "ttl_s": 60}
    left = parsed(lease=lease | {"lost_to": "the hook of main/w1 (`agent-sync worker take` goes on with it)"})
    assert (left.is_lost, left.is_left, left.lease.left_on) == (False, True, "main/w1")
    lost = parsed(lease=lease | {"lost_to": "ann since noon"})
    assert (lost.is_lost, lost.is_left, lost.may_act) == (True, False, False)


def test_unknown_field_without_end_is_refused():
    """A field of somebody else's that is nested too deeply to be written again is refused, not a crash."""
    content = json.dumps(json.loads(claim().to_json()) | {"theirs": 0}).replace(
        '"theirs": 0', f'"theirs": {"[" * 800 + "]" * 800}'
    )
    with pytest.raises(BadClaim, match="nested too deeply"):
        parse(content.encode(), file=".agent-claim.json")
