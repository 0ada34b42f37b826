"""Everything we read meets contents that nobody's program would write with an answer or with our own error."""

import pytest
from support.readers import READERS

from agent_sync.gates.reviews import findings

FEW = 40


@pytest.mark.parametrize("name", READERS)
def test_reader_meets_any_content(name, tmp_path, monkeypatch):
    """Nothing but our own error is raised, and a file that others wrote keeps its bytes."""
    # A reviewer's answer is looked for from each brace: every one of a deep nest is met in the same way.
    monkeypatch.setattr(findings, "MOST_STARTS", 50)
    READERS[name](tmp_path).try_out(seed=0, count=FEW)


DEEP = b"[" * 3000 + b"]" * 3000
ENDLESS = b'{"42": {"at": "2026-03-01T12:00:00+00:00", "times": 1e999}, "k": {"left": 1e999, "limit": 1, "resets_at": "2026-03-01T12:00:00+00:00"}}'
ZONELESS = b'{"k": {"left": 1, "limit": 2, "resets_at": "2026-03-01T12:00:00"}}'


@pytest.mark.parametrize("content", [DEEP, ENDLESS, ZONELESS], ids=["deep", "endless", "zoneless"])
@pytest.mark.parametrize("name", ["small state files", "memory of a gate"])
def test_state_that_once_was_too_much(name, content, tmp_path):
    """State nested too deeply, numbers without end and times without a zone count as nothing known."""
    READERS[name](tmp_path).meet(content)


def test_number_with_too_many_digits_in_the_clients_settings(tmp_path):
    """A number that Python refuses is refused as such."""
    READERS["settings of Claude Code"](tmp_path).meet(b"9" * 5000)


def test_refusal_whose_errors_are_no_list(tmp_path):
    """GitHub's details are passed over where they are no list."""
    READERS["refusal of GitHub"](tmp_path).meet((422, {}, b'{"message": "No", "errors": 1}'))
