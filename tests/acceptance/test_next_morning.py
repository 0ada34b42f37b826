"""The start of a session: what became of the pull request since somebody last looked."""

import json

import pytest
from support.stage import agent, human

FAILED = {"act": "add_check", "pull": 45, "name": "unit", "status": "completed", "conclusion": "failure"}
MERGED = {"act": "merge_pull", "pull": 45, "method": "squash"}


@pytest.fixture
def opened(theatre):
    """Open a pull request and end the session."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="Test PR", status="In Review")
    theatre.hook("on-stop")
    return theatre


def start(theatre, session="next"):
    """Start a session."""
    return theatre.hook("session-start", stdin=json.dumps({"session_id": session, "cwd": str(theatre.stage.root)}))


# What somebody or CI does, one after the other, the phase that follows, and what is said.
NIGHTS = {
    "closed": ([{"act": "close_pull", "pull": 45}], "pr_created", "PR #45 was closed without merging."),
    "green": (
        [{"act": "reopen_pull", "pull": 45}, FAILED | {"conclusion": "success"}],
        "pr_created",
        "CI passed! The check is green. PR #45 is ready to merge.",
    ),
    "failed": ([FAILED], "checks_running", 'CI: 1 FAILED — "unit"'),
    "merged": ([MERGED], "merged_detected", "PR #45 merged! Should I close issue #42?"),
}


def test_both_are_told_what_became_of_it(opened):
    """One request beside the board's, at the same time; the phase follows; told once in each session."""
    start(opened, "before")
    assert sorted(opened.operations()) == ["Board", "Poll"]
    for name, (acts, phase, words) in NIGHTS.items():
        for act in acts:
            opened.stage.act(**act)
        for session in (f"{name} one", f"{name} two"):
            told = start(opened, session)
            assert words in human(told), session
            assert words in agent(told), session
            again = start(opened, session)
            assert words not in human(again), session
        assert opened.stage.claim()["phase"] == phase, name


def test_silent_github_does_not_silence_the_start(opened):
    """Where GitHub does not answer, the session still learns what it holds."""
    opened.fault("delay:30", times=9, operation="Poll")
    told = start(opened)
    assert "holds issue #42" in agent(told)
    assert told.ms < 24_000


def test_without_a_terminal_the_stop_tells_the_human(opened):
    """`claude -p` shows the human nothing of a session's start: the sentence waits for the stop."""
    opened.stage.act(**MERGED)
    unattended = {"CLAUDE_CODE_SESSION_ATTENDED": "0"}
    stdin = json.dumps({"session_id": "p", "cwd": str(opened.stage.root)})
    assert human(opened.hook("session-start", stdin=stdin, **unattended)) == ""
    assert "PR #45 merged!" in human(opened.hook("on-stop", stdin=stdin, **unattended))


def test_answered_question_is_not_asked(opened):
    """Whoever types /done first thing in the morning is not asked afterwards whether to close."""
    opened.stage.act(**MERGED)
    unattended = {"CLAUDE_CODE_SESSION_ATTENDED": "0", "CLAUDECODE": "1"}
    stdin = json.dumps({"session_id": "p", "cwd": str(opened.stage.root)})
    opened.hook("session-start", stdin=stdin, **unattended)
    opened.hook("done", **unattended)
    stopped = opened.hook("on-stop", stdin=stdin, **unattended)
    assert "Issue #42 closed." in human(stopped)
    assert "Should I close" not in human(stopped)
    assert agent(stopped) == ""
