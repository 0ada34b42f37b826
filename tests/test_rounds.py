import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st
from support.claims import claim
from support.context import Workshop
from support.github import CARD, FakeGitHub, pull
from support.prove import PROVE

from agent_sync.errors import GitHubDown, RateLimited, Refused
from agent_sync.system import files
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.actions import BranchPushed
from agent_sync.task.decision.evolve import evolve
from agent_sync.task.decision.facts import NoCard, PullState, Trigger
from agent_sync.task.decision.feedback.checks import CheckRun
from agent_sync.task.failures.failure import JobOutput
from agent_sync.task.outbox import Readers

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


def test_push_that_github_has_not_noticed_is_waited_for(workshop):
    """Right after a push GitHub may not know the commit yet: the pull request is opened at a second try."""
    workshop.hold(claim(Phase.READY_FOR_PR))
    workshop.github.failing["open_pull"] = Refused("Head sha can't be blank, Base sha can't be blank")
    workshop.drive()
    assert workshop.github.calls.count("open_pull") == 2
    assert workshop.claim.phase == Phase.PR_CREATED


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
    assert workshop.said == ["PR #107 merged! Should I close issue #42? `/done` says yes."]
    workshop.github.calls.clear()
    workshop.drive(Trigger.IDLE)
    assert workshop.github.calls == []


def test_poll_then_backoff(workshop):
    """A second idle event inside two minutes asks nothing, says nothing, and knows when to look again."""
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107))
    workshop.github.pulls.append(pull(checks=(CheckRun("a", "SUCCESS"), CheckRun("b", "QUEUED"))))
    workshop.drive(Trigger.IDLE)
    assert workshop.claim.phase == Phase.CHECKS_RUNNING
    second = workshop.drive(Trigger.IDLE)
    assert workshop.github.calls == ["pull"]
    assert workshop.said == ["CI: 1/2 passed, 1 running..."]
    assert (second.was_idle, second.due) == (True, workshop.claim.last_check_poll + timedelta(minutes=2))


@pytest.mark.parametrize(
    ("edited", "expected"),
    [(-600, ["pull"]), (-60, []), (3600, ["pull"])],
    ids=["an older one counts as it stands", "so does a newer one", "one from the future is none"],
)
def test_edited_poll_governs(workshop, edited, expected):
    """`last_check_poll` in the file says when to look again, also where a person wrote it."""
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107))
    workshop.github.pulls.append(pull(checks=(CheckRun("a", "QUEUED"),)))
    workshop.drive(Trigger.IDLE)
    workshop.github.calls.clear()
    moment = datetime.now(UTC) + timedelta(seconds=edited)
    workshop.hold(workshop.claim.model_copy(update={"last_check_poll": moment}))
    workshop.drive(Trigger.IDLE)
    assert workshop.github.calls == expected


def test_new_head_is_looked_at_at_once(workshop):
    """After a push the backoff of the old commit's checks does not count."""
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107))
    workshop.github.pulls.append(pull(checks=(CheckRun("a", "QUEUED"),)))
    workshop.drive(Trigger.IDLE)
    assert evolve(workshop.claim, BranchPushed("b" * 40)).last_check_poll is None
    assert evolve(workshop.claim, BranchPushed("a" * 40)).last_check_poll is not None
    assert evolve(workshop.claim, BranchPushed("")).last_check_poll is not None


def test_closed_pull_request_is_polled_no_more(workshop):
    """Closed without merging: said once, and no further idle event asks; a person who asks sees it reopened."""
    workshop.new_context(AGENT_SYNC_CHECKS_BACKOFF_S="0")
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107))
    workshop.github.pulls.append(pull(state=PullState.CLOSED))
    for _ in range(3):
        workshop.drive(Trigger.IDLE)
    assert workshop.github.calls == ["pull"]
    assert len(workshop.said) == 1
    workshop.github.pulls[0] = pull()
    workshop.drive(Trigger.SYNC)
    assert workshop.claim.closed_unmerged is False


def test_board_is_tried_again_once_the_cause_is_gone(workshop):
    """A board in trouble is left alone for ten minutes; then a later event moves the card."""
    workshop.new_context(AGENT_SYNC_PROJECT_NUMBER="1")
    workshop.github.card_seen = NoCard("The token lacks the scope.")
    workshop.hold(claim(Phase.CODING, status="In Review"))
    workshop.drive()
    workshop.drive()
    assert workshop.github.calls == ["card"]
    assert workshop.drive().due == workshop.claim.refused_at + timedelta(minutes=10)
    workshop.github.card_seen = CARD
    earlier = workshop.claim.refused_at - timedelta(minutes=10)
    (workshop.root / ".git/agentsync/claim.base.json").unlink()
    workshop.hold(workshop.claim.model_copy(update={"refused_at": earlier}))
    workshop.drive()
    assert workshop.github.card_seen.status == "In Review"
    assert (workshop.claim.refused_status, workshop.claim.refused_at) == (None, None)


def test_issue_closed_by_the_merge_is_not_asked_about(workshop):
    """The merge has closed the issue: nobody is asked, the card moves and the claim file goes."""
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107))
    workshop.github.pulls.append(pull(state=PullState.MERGED))
    workshop.github.issue_open = False
    workshop.drive(Trigger.IDLE)
    assert workshop.claim is None
    assert workshop.github.comments == []
    assert workshop.github.card_seen.status == "Done"
    assert "Issue #42 was closed by the merge" in workshop.said[0]
    assert not any("Should I close" in text for text in workshop.said)


@pytest.mark.parametrize(
    ("held", "trigger", "state"),
    [
        (claim(Phase.READY_FOR_PR), Trigger.STOP, None),
        (claim(Phase.READY_FOR_PR, summary=""), Trigger.STOP, None),
        (claim(Phase.PR_CREATED, pr_number=107), Trigger.REWAKE, pull(checks=(CheckRun("a", "FAILURE"),))),
        (claim(Phase.PR_CREATED, pr_number=107), Trigger.REWAKE, pull(state=PullState.MERGED)),
        (claim(Phase.PR_CREATED, pr_number=107), Trigger.REWAKE, pull(state=PullState.CLOSED)),
        (claim(Phase.DONE, pr_number=107), Trigger.STOP, pull(state=PullState.MERGED)),
    ],
    ids=["created", "no summary", "failed", "merged", "closed", "done"],
)
def test_second_round_in_the_same_clone_speaks_again(workshop, held, trigger, state):
    """The same claim file written by hand once more leads to the same sentence once more."""
    said = []
    for _ in range(2):
        workshop.github = FakeGitHub(pulls=[state] if state else [])
        workshop.new_context()
        workshop.hold(held)
        workshop.drive(trigger)
        said.append(workshop.said)
        workshop.context.outbox.mark(workshop.context.outbox.waiting(), Readers(human=True, agent=True))
    assert said[0]
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("seen", "words", "phase"),
    [
        (pull(state=PullState.MERGED), "merged! Should I close issue #42?", Phase.MERGED_DETECTED),
        (pull(state=PullState.CLOSED), "was closed without merging", Phase.PR_CREATED),
        (pull(checks=(CheckRun("unit", "FAILURE"),)), '1 FAILED — "unit"', Phase.CHECKS_RUNNING),
        (pull(checks=(CheckRun("unit", "SUCCESS"),)), "CI passed!", Phase.PR_CREATED),
        (pull(changes_requested_by=("mona",), review_id="7"), 'changes requested by "mona"', Phase.PR_CREATED),
        (pull(is_conflicting=True), "conflicts with its base branch", Phase.PR_CREATED),
    ],
    ids=["merged", "closed", "failed", "green", "changes", "conflict"],
)
def test_every_session_is_told_how_the_pull_request_stands(workshop, seen, words, phase):
    """One request at each session's start; both readers, once a session; the watcher does not repeat it."""
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107, status="In Review", last_synced_status="In Review"))
    workshop.github.pulls.append(seen)
    for session in ("s1", "s2"):
        workshop.github.calls.clear()
        workshop.drive(Trigger.SESSION_START, session_id=session)
        assert workshop.github.calls == ["pull"]
        told = [notice for notice in workshop.context.outbox.waiting() if words in notice.text]
        assert [(notice.for_human, notice.for_agent, notice.wakes) for notice in told] in (
            [(True, True, False)],
            [(True, True, True)],
        )
        workshop.context.outbox.mark(workshop.context.outbox.waiting(), Readers(human=True, agent=True))
        workshop.drive(Trigger.SESSION_START, session_id=session)
        workshop.new_context(AGENT_SYNC_CHECKS_BACKOFF_S="0")
        workshop.drive(Trigger.REWAKE, session_id=session)
        workshop.drive(Trigger.PROMPT, session_id=session)
        assert workshop.said == []
    assert workshop.claim.phase == phase


def test_watcher_brings_the_log_of_what_a_session_was_told(workshop):
    """A session's start costs one request; the log follows with the first look, without the verdict once more."""
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107, status="In Review", last_synced_status="In Review"))
    workshop.github.pulls.append(pull(checks=(CheckRun("unit", "FAILURE", url="https://x/job/1"),)))
    workshop.github.logs["https://x/job/1"] = JobOutput("Test", (), "E   assert 1 == 2\n")
    workshop.drive(Trigger.SESSION_START, session_id="s1")
    assert workshop.github.calls == ["pull"]
    workshop.context.outbox.mark(workshop.context.outbox.waiting(), Readers(human=True, agent=True))
    workshop.new_context(AGENT_SYNC_CHECKS_BACKOFF_S="0")
    workshop.drive(Trigger.REWAKE, session_id="s1")
    (why,) = workshop.context.outbox.waiting()
    assert (why.for_human, why.wakes) == (False, True)
    assert "assert 1 == 2" in why.text


def test_every_session_is_told_that_the_branch_is_behind(workshop):
    """What keeps the pull request from its merge and needs the agent is told at each start, with the next step."""
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107, status="In Review", last_synced_status="In Review"))
    workshop.github.pulls.append(pull(merge_state="BEHIND", base="main"))
    for session in ("s1", "s2"):
        workshop.drive(Trigger.SESSION_START, session_id=session)
        (told,) = workshop.context.outbox.waiting()
        assert "must be updated with its base branch" in told.text
        assert "Run `git fetch origin && git merge origin/main`, then run: agent-sync push" in told.agent_text
        workshop.context.outbox.mark((told,), Readers(human=True, agent=True))


def test_session_start_leaves_unsettled_checks_alone(workshop):
    """Checks that run are no news in the morning."""
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107))
    workshop.github.pulls.append(pull(checks=(CheckRun("a", "QUEUED"),)))
    workshop.drive(Trigger.SESSION_START)
    assert workshop.said == []


def test_watcher_says_each_state_of_a_commit_once(workshop):
    """In the background the same failure of the same commit is news only once; a new commit's is news again."""
    workshop.new_context(AGENT_SYNC_CHECKS_BACKOFF_S="0")
    workshop.hold(claim(Phase.PR_CREATED, pr_number=107))
    workshop.github.pulls.append(pull(checks=(CheckRun("a", "FAILURE"),)))
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
    back_at = workshop.claim.not_before
    assert until <= back_at <= until + timedelta(minutes=1)
    workshop.github.calls.clear()
    looked = workshop.drive()
    assert (True, back_at) == (looked.was_idle, looked.due)
    assert workshop.github.calls == []
    assert len(workshop.said) == 1


@pytest.mark.parametrize(("ago", "times"), [(timedelta(seconds=1), 0), (timedelta(hours=2), 1)])
def test_limits_that_follow_one_another_are_one_notice(workshop, ago, times):
    """GitHub asks for a minute, and for another one when that is over: the human has read it; later it is news."""
    now = datetime.now(UTC)
    workshop.hold(claim(Phase.DONE, pr_number=107, not_before=now - ago))
    workshop.github.failing["closing"] = RateLimited("slow down", until=now + timedelta(minutes=1))
    workshop.drive()
    assert timedelta(0) <= workshop.claim.not_before - (now + timedelta(minutes=1)) <= timedelta(seconds=6)
    assert len(workshop.said) == times


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
    st.sampled_from([(), (CheckRun("a", "SUCCESS"),), (CheckRun("a", "FAILURE"),), (CheckRun("a", "QUEUED"),)]),
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


# Every example has a repository of its own.
@(settings() if PROVE else settings(max_examples=20))
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
