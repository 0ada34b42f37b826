import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st
from support.claims import claim
from support.context import Workshop
from support.github import CARD, FakeGitHub, pull

from agent_sync.errors import GitHubDown, RateLimited, Refused
from agent_sync.system import files
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.checks import Check
from agent_sync.task.decision.facts import NoCard, PullState, Trigger

WRITES = {"open_pull", "move_card", "close_task"}


def writes(github):
    return [call for call in github.calls if call in WRITES]


def test_pull_request_is_opened_and_recorded(workshop):
    """ready_for_pr at a stop: one look, one write, phase and number together, the URL said."""
    workshop.hold(claim(Phase.READY_FOR_PR))
    workshop.drive()
    now = workshop.claim
    assert (now.phase, now.pr_number, now.last_synced_status) == (Phase.PR_CREATED, 107, "In Review")
    assert workshop.github.calls == ["lookup", "open_pull"]
    assert workshop.said == ["PR #107 created: https://github.com/octo/demo/pull/107"]
    assert workshop.github.card_seen.status == "In Review"


def test_second_run_does_nothing(workshop):
    """After the pull request is open, a further stop asks GitHub nothing."""
    workshop.hold(claim(Phase.READY_FOR_PR))
    workshop.drive()
    workshop.github.calls.clear()
    assert workshop.drive().was_idle
    assert workshop.github.calls == []


def test_lost_answer_leads_to_adoption(workshop):
    """A pull request whose creation was never answered is found at the next event, not opened twice."""
    workshop.hold(claim(Phase.READY_FOR_PR))
    workshop.github.failing["open_pull"] = GitHubDown("cut off", maybe_applied=True)
    with pytest.raises(GitHubDown):
        workshop.drive()
    workshop.github.pulls.append(pull())
    workshop.drive(Trigger.IDLE)
    assert len(workshop.github.pulls) == 1
    assert workshop.claim.pr_number == 107


def test_refused_pull_request_keeps_the_phase(workshop):
    """GitHub's no is said with its reason, and the claim waits."""
    workshop.hold(claim(Phase.READY_FOR_PR))
    workshop.github.failing["open_pull"] = Refused("Draft pull requests are not supported")
    workshop.drive()
    assert workshop.claim.phase == Phase.READY_FOR_PR
    assert workshop.github.calls == ["lookup", "open_pull"]
    assert 'GitHub refused: "Draft pull requests are not supported' in workshop.said[0]


def test_unpushed_commits_are_pushed_first(workshop, tmp_path):
    """The branch goes to the remote, fast-forward only, before the pull request is opened."""
    bare = tmp_path / "remote.git"
    git = ["git", "-C", str(workshop.root)]
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    subprocess.run([*git, "remote", "add", "origin", str(bare)], check=True)
    subprocess.run([*git, "checkout", "-q", "-b", "claude/fix-race-42"], check=True)
    workshop.github.remote_sha = None
    workshop.hold(claim(Phase.READY_FOR_PR))
    workshop.drive()
    pushed = subprocess.run(
        ["git", "-C", str(bare), "rev-parse", "claude/fix-race-42"], check=True, capture_output=True
    )
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True)
    assert head.stdout == pushed.stdout
    assert workshop.github.calls == ["lookup", "open_pull"]


def test_merge_is_noticed_and_asked_about_once(workshop):
    """A merge is recorded and the question asked; later idle events ask GitHub nothing."""
    workshop.hold(claim(Phase.CHECKS_RUNNING, pr_number=107))
    workshop.github.pulls.append(pull(state=PullState.MERGED))
    workshop.drive(Trigger.IDLE)
    assert workshop.claim.phase == Phase.MERGED_DETECTED
    assert workshop.said == ["PR #107 merged! Should I close issue #42?"]
    workshop.github.calls.clear()
    workshop.drive(Trigger.IDLE)
    assert workshop.github.calls == []


def test_poll_then_backoff(workshop):
    """A second idle event inside two minutes asks for the merge state only, and says nothing new."""
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107))
    workshop.github.pulls.append(pull(checks=(Check("a", "SUCCESS"), Check("b", "QUEUED"))))
    workshop.drive(Trigger.IDLE)
    assert workshop.claim.phase == Phase.CHECKS_RUNNING
    workshop.drive(Trigger.IDLE)
    assert workshop.github.calls == ["pull", "pull"]
    assert workshop.said == ["CI: 1/2 passed, 1 running..."]


def test_watcher_says_each_state_of_a_commit_once(workshop):
    """In the background the same failure of the same commit is news only once; a new commit's is news again."""
    workshop.new_context(AGENT_SYNC_CHECKS_BACKOFF_S="0")
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107))
    workshop.github.pulls.append(pull(checks=(Check("a", "FAILURE"),)))
    workshop.drive(Trigger.REWAKE)
    workshop.drive(Trigger.REWAKE)
    assert len(workshop.said) == 1
    workshop.github.pulls[0] = replace(workshop.github.pulls[0], head_sha="b" * 40)
    workshop.drive(Trigger.REWAKE)
    assert len(workshop.said) == 2


def test_close_is_complete_and_the_file_is_gone(workshop):
    """done: comment, close, card, Agent cleared, file deleted, said; two requests in all."""
    workshop.hold(claim(Phase.DONE, pr_number=107))
    workshop.github.pulls.append(pull(state=PullState.MERGED))
    workshop.drive()
    assert workshop.github.calls == ["closing", "close_task"]
    assert (
        workshop.github.issue_open,
        workshop.github.card_seen.status,
        workshop.github.card_seen.agent,
    ) == (False, "Done", None)
    assert workshop.claim is None
    assert workshop.said == ["Issue #42 closed. Board → Done. Signal file cleaned up."]


def test_board_trouble_never_holds_the_task(workshop):
    """Without a card the pull request is opened and the issue closed all the same; the trouble is said."""
    workshop.github.card_seen = NoCard("Issue #42 is not on the board.")
    workshop.hold(claim(Phase.READY_FOR_PR))
    workshop.drive()
    assert workshop.claim.phase == Phase.PR_CREATED
    assert workshop.claim.last_synced_status == "In Progress"
    workshop.github.pulls[0] = replace(workshop.github.pulls[0], state=PullState.MERGED)
    workshop.hold(workshop.claim.model_copy(update={"phase": Phase.DONE}))
    workshop.drive()
    assert workshop.claim is None
    assert not workshop.github.issue_open
    assert any("Board not updated" in text and "not on the board" in text for text in workshop.said)


def test_rate_limit_pauses_the_claim(workshop):
    """A limit stores the moment, says it once, and nothing is asked before."""
    until = datetime.now(UTC) + timedelta(minutes=10)
    workshop.hold(claim(Phase.DONE, pr_number=107))
    workshop.github.failing["closing"] = RateLimited("slow down", until=until)
    workshop.drive()
    assert until == workshop.claim.not_before
    workshop.github.calls.clear()
    looked = workshop.drive()
    assert (True, until) == (looked.was_idle, looked.due)
    assert workshop.github.calls == []
    assert len(workshop.said) == 1


def test_only_one_acts(workshop):
    """While another process acts on the claim, this one steps back and stays silent."""
    workshop.hold(claim(Phase.READY_FOR_PR))
    with files.locked_if_free(workshop.context.store.file.parent / ".git/agentsync/actor.lock"):
        workshop.drive()
    assert workshop.github.calls == []
    assert workshop.said == []


def test_every_step_is_in_the_log(workshop):
    """Each question and each outcome is one record with its phase, time and requests."""
    workshop.hold(claim(Phase.READY_FOR_PR))
    workshop.drive()
    records = [(r["what"], r["requests"], r["phase"]) for r in workshop.context.log.records()]
    assert records == [
        ("AskBranch", 0, "ready_for_pr"),
        ("AskGate", 0, "ready_for_pr"),
        ("AskLookup", 1, "ready_for_pr"),
        ("PullOpened", 1, "ready_for_pr"),
    ]


PULLS = st.builds(
    lambda state, checks, conflict: pull(state=state, checks=checks, is_conflicting=conflict),
    st.sampled_from(PullState),
    st.sampled_from([(), (Check("a", "SUCCESS"),), (Check("a", "FAILURE"),), (Check("a", "QUEUED"),)]),
    st.booleans(),
)
CLAIMS = st.builds(
    claim,
    st.sampled_from(Phase),
    pr_number=st.sampled_from([None, 107]),
    branch=st.sampled_from(["", "claude/fix-race-42"]),
    summary=st.sampled_from(["", "Fix"]),
    status=st.sampled_from(["", "In Progress", "In Review", "Nope"]),
    closed_unmerged=st.booleans(),
    close_unmerged=st.booleans(),
)
WORLDS = st.builds(
    FakeGitHub,
    commits_ahead=st.sampled_from([None, 0, 1]),
    pulls=st.lists(PULLS, min_size=1, max_size=1),
    card_seen=st.sampled_from([CARD, NoCard("none"), replace(CARD, is_archived=True), replace(CARD, options=())]),
    issue_open=st.booleans(),
)


@given(CLAIMS, WORLDS, st.sampled_from(Trigger))
def test_any_claim_in_any_world_settles(tmp_path_factory, held, github, trigger):
    """Whatever the claim says and the world holds: the loop ends, and a second run writes nothing more."""
    root = tmp_path_factory.mktemp("any")
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)
    workshop = Workshop(root)
    workshop.github = github
    with workshop.context.store.locked() as token:
        workshop.context.store.create(token, held)
    workshop.drive(trigger)
    assert not any(record["what"] == "rounds-exceeded" for record in workshop.context.log.records())
    github.calls.clear()
    workshop.drive(trigger)
    assert writes(github) == []
