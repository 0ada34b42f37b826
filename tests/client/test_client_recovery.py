"""What the next session is told, after a crash, a clean end, a night."""

import pytest
from scenes import COMMIT, PULL, claim, crash, hook_md, open_pull
from scripted_model import bash, call, say

ASKED = "Use a read-write lock, never a spin lock"
LONGEST = 1200
CALLED_A_CRASH = ("awaiting_human", "recovering", "A human must act first")


def reads_record(client):
    """Let the next session read the record first; return what it was told and what it read."""
    client.model.plays([call("Read", file_path=str(hook_md(client)))], [say("Read.")])
    run = client.ask("continue please", allowed=("--allowedTools", "Read"))
    return run.requests[0].briefing, run.requests[-1].text.rpartition("hook additional context")[2]


def test_first_words_after_a_crash(client):
    """Crash: the first line of the next session names task, state and file."""
    claim(client)
    crash(client, ASKED, [bash(COMMIT)])
    client.model.plays([say("I go on.")])
    told = client.ask("continue please").requests[0].briefing
    assert told.startswith("[ATLAS RECOVERY] Task 'issue-42' in progress. State: ")
    assert str(hook_md(client)) in told
    assert "holds issue #42" in told


def test_instruction_survives_a_crash(client):
    """Crash: the next session is told what was asked for."""
    claim(client)
    crash(client, ASKED, [bash(COMMIT)])
    told, read = reads_record(client)
    assert ASKED in told
    assert ASKED in read
    assert len(told) <= LONGEST


def test_state_survives_the_prompt(client):
    """Crash: the record says the same as the first line, after the prompt too."""
    claim(client)
    crash(client, ASKED, [bash(COMMIT)])
    told, read = reads_record(client)
    state = told.partition("State: ")[2].partition(",")[0]
    assert state == "recovering"
    assert f"Current State: `{state}`" in read


def test_prompt_of_the_claim_is_kept(client):
    """Crash in the turn of the claim: the next session is told what was asked for."""
    crash(client, f"Take issue 42. {ASKED}", [bash("agent-sync claim 42")], [bash(COMMIT)])
    told, read = reads_record(client)
    assert ASKED in told
    assert ASKED in read


def test_commit_before_a_kill_is_a_checkpoint(client):
    """Crash: a commit before it is the last checkpoint."""
    claim(client)
    crash(client, ASKED, [bash(COMMIT)])
    _, read = reads_record(client)
    assert "Guard the cache" in read


def test_uncommitted_files_are_named(client):
    """Crash: files that were not committed are named."""
    claim(client)
    crash(client, ASKED, [bash("echo 'lock = 1' >> cache.py")])
    _, read = reads_record(client)
    assert "cache.py" in read


def test_clean_end_is_no_crash(client):
    """Clean end of a run: the next session goes on, no human is needed."""
    claim(client)
    client.model.plays([say("I go on.")])
    told = client.ask("continue please").requests[0].briefing
    assert "holds issue #42" in told
    assert [word for word in CALLED_A_CRASH if word in told] == []


def test_resume(client):
    """Resume by --continue: the text comes again, and the claim is held."""
    claim(client)
    client.model.plays([say("I go on.")])
    run = client.ask("continue please", "--continue")
    assert [hook["hook_name"] for hook in run.hooks("SessionStart")] == ["SessionStart:resume"]
    assert "holds issue #42" in run.requests[0].briefing


def test_compaction(client):
    """Compaction: the text comes again."""
    claim(client)
    run = client.ask("/compact", "--continue")
    assert "SessionStart:compact" in [hook["hook_name"] for hook in run.hooks("SessionStart")], run.result
    client.model.plays([say("I go on.")])
    assert "holds issue #42" in client.ask("continue please", "--continue").requests[0].text


def overnight(client, *acts):
    """Open a pull request, end the session, let others act, and start the next one; return its run."""
    open_pull(client)
    for act, fields in acts:
        client.stage.act(act, pull=PULL, **fields)
    client.model.plays([say("I go on.")])
    return client.ask("continue please")


FAILED = ("add_check", {"name": "unit-tests", "status": "completed", "conclusion": "failure"})
PASSED = ("add_check", {"name": "unit-tests", "status": "completed", "conclusion": "success"})
REVIEWED = ("review", {"state": "changes_requested", "body": "Use a lock."})
MERGED = ("merge_pull", {"method": "squash"})
CLOSED = ("close_pull", {})


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (MERGED, ("merged", "/done")),
        (FAILED, ("unit-tests", "agent-sync push")),
        (REVIEWED, ("changes requested",)),
        (PASSED, ("passed",)),
        (CLOSED, ("closed",)),
    ],
    ids=["merged", "failed", "changes requested", "green", "closed"],
)
def test_next_morning(client, act, words):
    """Next morning: human and model are told what became of the pull request."""
    run = overnight(client, act)
    told = run.requests[0].briefing
    assert [word for word in words if word not in told] == []
    assert f"PR #{PULL}" in run.shown
    assert words[0] in run.shown


def test_merged_overnight_is_in_the_record(client):
    """Merged overnight: the record says so, and not to go on."""
    open_pull(client)
    client.stage.act("merge_pull", pull=PULL, method="squash")
    told, read = reads_record(client)
    assert "merged" in told
    assert "merged" in read
    assert "RESUME: Continue" not in read
