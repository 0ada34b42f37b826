"""Whose turn it is in every situation."""

from dataclasses import replace
from datetime import timedelta

import pytest
from support.claims import NOW, claim
from support.fleet_views import here, issue, lease, shown
from support.github import pull
from support.situations import CASES, CHECKS, opened

from agent_sync.fleet.projection import Lane
from agent_sync.fleet.seen import KEPT_BY_WATCH, HeldTask, Session
from agent_sync.leases.model import LeaseMode
from agent_sync.task.claim.model import LeaseNote
from agent_sync.task.decision import situations as s
from agent_sync.task.decision.claims_seen import ClaimsSeen
from agent_sync.task.decision.drift import drift_situations as d
from agent_sync.task.decision.facts import IssueSeen, PullState
from agent_sync.task.decision.feedback.checks import CheckRun
from agent_sync.task.decision.feedback.reviews import Conversation

AGENTS = (
    s.Coding, s.PullFound, s.Withheld, s.Opening, s.Ahead, s.Conflicting, s.CIFailed, s.ThreadsOpen, s.Ejected, s.BehindBase,
    s.ChangesRequested, s.Closing, d.ForeignHead,
)  # fmt: skip
PEOPLE = (
    s.CIStuck, s.ApprovalNeeded, s.MergeBlocked, s.AwaitingMerge, s.ClosedUnmerged, s.AwaitingConsent, s.NotClosed,
    s.Lost, s.Crashed, s.WaitingForHuman, d.IssueClosed, d.IssueGone, d.Reassigned, d.BranchDeleted, d.Reverted,
)  # fmt: skip
# Whether a lease holds is known here from its ref, and whose a merged pull request is from git.
CLAIMED = {
    name: case
    for name, case in CASES.items()
    if case.claim
    and not isinstance(case.expected, s.LeaseUnverified)
    and not getattr(case.expected, "is_merged", False)
}
GREEN = (CheckRun("test", "SUCCESS"),)


def lane_while_at_work(stands: s.Situation) -> Lane:
    """Return the lane that a situation belongs to while a session is at work on the task."""
    if isinstance(stands, s.NotOpened):
        return Lane.NEEDS_YOU if stands.by == "github" else Lane.WORKING
    if isinstance(stands, s.Watching):
        return Lane.NEEDS_YOU if stands.ci.value == "checks unavailable" else Lane.WAITING
    if isinstance(stands, AGENTS):
        return Lane.WORKING
    return Lane.NEEDS_YOU if isinstance(stands, PEOPLE) else Lane.WAITING


def of_case(case, **fields):
    """Return the task of a case, in a worktree of this machine."""
    known = case.known
    git = {"is_ahead": known.is_ahead, "is_head_here": known.is_head_here}
    place = here(claim=case.claim, record=case.record, **(git | fields))
    other = lease() if known.lease else None
    return shown(HeldTask(42, other, place), remote=known.remote, github=github_of(known))


def github_of(known):
    """Return what GitHub answers in a case; nothing where it was not asked."""
    seen = known.issue or (known.pull.issue if known.pull else None)
    if seen and seen.is_gone:
        return ClaimsSeen("octo", gone=frozenset({42}))
    if not seen and not known.pull:
        return None
    about = {"is_open": seen.is_open, "assignees": seen.assignees or ("octo",)} if seen else {}
    return ClaimsSeen("octo", (issue(pull=known.pull, **about),))


@pytest.mark.parametrize("name", CLAIMED)
def test_every_situation_has_its_lane(name):
    """A task whose session is at work is Working, Waiting or Needs you by its situation alone, with a command."""
    case = CLAIMED[name]
    task = of_case(case)
    assert type(task.situation) is type(case.expected)
    assert task.lane is lane_while_at_work(case.expected)
    assert task.next_command
    assert task.reason


@pytest.mark.parametrize("name", [name for name, case in CLAIMED.items() if isinstance(case.expected, AGENTS)])
def test_work_without_a_session_needs_a_person(name):
    """What an agent would do is nobody's where the session is known to have ended: a person has to start one."""
    task = of_case(CLAIMED[name], session=Session.ENDED)
    assert (task.lane, task.who) == (Lane.NEEDS_YOU, "you")
    assert "no session" in task.reason


def test_red_ci_with_an_agent_at_it_is_working():
    """Red CI is the agent's to mend while it gives signs of work."""
    failed = opened(checks=CHECKS | {"state": "failed", "failed": ["lint"]})
    task = shown(HeldTask(42, here=here(claim=failed)))
    assert (task.lane, task.reason, task.ci) == (Lane.WORKING, 'CI failed: "lint"', "failed")


def test_silence_becomes_a_question():
    """No sign of work for the limit is asked about, not reported as a fault."""
    task = shown(HeldTask(42, here=here(last_sign=NOW - timedelta(minutes=90))))
    assert (task.lane, task.reason) == (
        Lane.NEEDS_YOU,
        "no sign for 1 h: is anybody at work on it? (is coding)",
    )


def test_the_limit_of_silence_can_be_set():
    """A longer limit keeps the same task in Working."""
    task = shown(HeldTask(42, here=here(last_sign=NOW - timedelta(minutes=90))), quiet_s=7200)
    assert task.lane is Lane.WORKING


def test_a_lease_kept_by_watch_is_no_sign_of_work():
    """A renewal by `agent-sync watch` keeps the claim, and says nothing about anybody working on it."""
    old = {"acquired_at": NOW - timedelta(hours=9), "minutes_ago": 1.0}
    kept = shown(HeldTask(42, lease(session=KEPT_BY_WATCH, **old)), issues=(issue(),))
    renewed = shown(HeldTask(42, lease(session="a-session", **old)), issues=(issue(),))
    assert (kept.lane, renewed.lane) == (Lane.NEEDS_YOU, Lane.WORKING)


def test_an_expired_claim_of_somebody_else_can_be_taken_over_by_anybody():
    """Whoever looks is offered an expired claim without a pull request, whoever's it was."""
    task = shown(HeldTask(42, lease(minutes_ago=120)), issues=(issue(assignees=("mona",)),))
    assert (task.lane, task.next_command) == (Lane.NEEDS_YOU, "agent-sync claim 42 --take-over")


def test_a_hand_claim_that_went_quiet_is_freed_by_hand():
    """A claim made by hand never expires, so that it can only be freed."""
    task = shown(HeldTask(42, lease(minutes_ago=120, mode=LeaseMode.MANUAL)), issues=(issue(),))
    assert task.next_command == "agent-sync release 42 --force"


def test_another_machines_pull_request_is_found_by_its_branch():
    """The phase of a lease is that of its last renewal; an open pull request says more."""
    found = pull(45, checks=(CheckRun("test", "FAILURE"),))
    task = shown(HeldTask(42, lease()), issues=(issue(pull=found),))
    assert (type(task.situation), task.lane, task.ci) == (s.CIFailed, Lane.WORKING, "failed")
    assert task.pull
    assert task.pull.number == 45


def test_another_machines_closed_pull_request_needs_a_person():
    """A pull request that somebody closed is known from afar, whatever phase the lease was renewed in."""
    task = shown(HeldTask(42, lease()), issues=(issue(pull=pull(45, PullState.CLOSED)),))
    assert (type(task.situation), task.lane) == (s.ClosedUnmerged, Lane.NEEDS_YOU)
    assert task.next_command == "gh pr reopen https://github.com/octo/demo/pull/45"


def test_a_pull_request_of_an_earlier_claim_does_not_count():
    """What ended before the claim was made says nothing about it."""
    merged = issue(pull=pull(40, PullState.MERGED))
    ended = replace(merged, moments=replace(merged.moments, ended=NOW - timedelta(days=3)))
    task = shown(HeldTask(42, lease()), issues=(ended,))
    assert (type(task.situation), task.pull) == (s.Coding, None)


def test_a_pull_request_that_ended_in_the_second_of_its_claim_counts():
    """GitHub tells whole seconds, so what ended right after the claim seems to have ended right before it."""
    claimed = NOW.replace(microsecond=700_000)
    merged = issue(pull=pull(40, PullState.CLOSED))
    ended = replace(merged, moments=replace(merged.moments, ended=claimed.replace(microsecond=0)))
    task = shown(HeldTask(42, lease(acquired_at=claimed)), issues=(ended,))
    assert type(task.situation) is s.ClosedUnmerged


def test_a_green_pull_request_wants_a_merge():
    """Only a person merges, and the row says how."""
    task = shown(HeldTask(42, lease(phase="pr_created", pr=45)), issues=(issue(pull=pull(45, checks=GREEN)),))
    assert (task.lane, task.reason) == (Lane.NEEDS_YOU, "CI passed; merge it?")
    assert task.next_command == "gh pr merge https://github.com/octo/demo/pull/45"


def test_somebody_elses_merge_waits_for_them():
    """What only another person can move is Waiting, and names them."""
    theirs = issue(pull=pull(45, checks=GREEN), pull_author="mona", assignees=("mona",))
    task = shown(HeldTask(42, lease(pr=45)), issues=(theirs,))
    assert (task.lane, task.who, task.reason) == (Lane.WAITING, "mona", "for mona: CI passed; merge it?")


def test_a_review_by_somebody_else_is_waited_for():
    """A review that was asked of somebody else is Waiting, and names them."""
    asked = pull(45, checks=GREEN, conversation=Conversation(requested=("mona",)), review_decision="REVIEW_REQUIRED")
    task = shown(HeldTask(42, lease(pr=45)), issues=(issue(pull=asked),))
    assert (task.lane, task.who, task.reason) == (Lane.WAITING, "mona", "for review by mona")
    assert task.review == "review required"


def test_a_review_by_the_viewer_is_what_they_are_needed_for():
    """A review asked of the viewer is theirs to give, whoever opened the pull request."""
    asked = pull(45, checks=GREEN, conversation=Conversation(requested=("octo",)), review_decision="REVIEW_REQUIRED")
    task = shown(HeldTask(42, lease(pr=45)), issues=(issue(pull=asked, pull_author="mona"),))
    assert (task.lane, task.reason) == (Lane.NEEDS_YOU, "your review is asked for")
    assert task.next_command == "gh pr review https://github.com/octo/demo/pull/45"


def test_what_github_merges_itself_needs_nobody():
    """With a merge ordered, a green pull request waits for GitHub."""
    task = shown(HeldTask(42, lease(pr=45)), issues=(issue(pull=pull(45, checks=GREEN)),), merges_itself=True)
    assert (task.lane, task.who) == (Lane.WAITING, "GitHub")


def test_a_merge_that_closed_the_issue_needs_nobody():
    """Where the merge has closed the issue, nobody is asked for consent."""
    merged = pull(45, PullState.MERGED, issue=IssueSeen(is_open=False))
    task = shown(HeldTask(42, lease(pr=45)), issues=(issue(pull=merged, is_open=False),))
    assert (type(task.situation), task.lane) == (s.Closing, Lane.WORKING)


def test_an_issue_closed_under_the_work_needs_a_person():
    """Somebody closed the issue: whether the work goes on is for a person to say."""
    task = shown(HeldTask(42, lease()), issues=(issue(is_open=False),))
    assert (task.lane, task.next_command) == (Lane.NEEDS_YOU, "agent-sync release 42 --force")


@pytest.mark.parametrize(("minutes", "lane"), [(6, Lane.WAITING), (120, Lane.NEEDS_YOU)])
def test_slung_work_waits_for_its_worker(minutes, lane):
    """Work on a hook waits for its worker; for too long, somebody is asked whether one runs."""
    slung = lease(phase="slung to docs/w2", mode=LeaseMode.MANUAL, minutes_ago=minutes)
    task = shown(HeldTask(42, slung), issues=(issue(),))
    assert (task.lane, task.agent, task.situation) == (lane, "docs/w2", s.OnHook(42, "docs/w2"))


def test_without_github_a_lease_is_not_guessed_at():
    """What a lease alone says is when its holder was last heard of."""
    task = shown(HeldTask(42, lease()), github=None)
    assert (task.situation, task.lane) == (None, Lane.WORKING)
    assert task.reason == "how it stands is not known, last seen 11:55 UTC"


def test_a_claim_that_cannot_be_read_needs_a_person():
    """A spoilt claim ref is nobody's until a person looks at it."""
    task = shown(HeldTask(42, trouble="it has no claim.json"))
    assert (task.lane, task.next_command) == (Lane.NEEDS_YOU, "agent-sync doctor")
    helped = shown(HeldTask(42, trouble="it has no claim.json", helps="agent-sync release 42 --force"))
    assert (helped.lane, helped.next_command) == (Lane.NEEDS_YOU, "agent-sync release 42 --force")


def test_a_lease_dated_in_the_future_is_no_sign_of_work():
    """A renewal of a wrong clock needs a person, whosever the task is; on this machine other signs tell more."""
    ahead = lease(renewed_at=NOW + timedelta(days=4000))
    task = shown(HeldTask(42, ahead), issues=(issue(assignees=("mona",)),))
    assert (task.lane, task.next_command) == (Lane.NEEDS_YOU, "agent-sync reconcile --all")
    assert shown(HeldTask(42, ahead, here())).lane is Lane.WORKING


def test_a_pull_request_whose_worktree_is_gone_is_merged_as_ever():
    """What is gone here matters only where work is left to do; then the claim is continued."""
    gone = HeldTask(42, lease(pr=45), gone="its worktree is gone")
    assert shown(gone, issues=(issue(pull=pull(45, checks=GREEN)),)).next_command.startswith("gh pr merge ")
    red = shown(gone, issues=(issue(pull=pull(45, checks=(CheckRun("test", "FAILURE"),))),))
    assert (red.lane, red.next_command) == (Lane.NEEDS_YOU, "agent-sync claim 42")


def test_a_lost_claim_says_who_has_it():
    """A worktree whose claim was taken over is a row of its own."""
    mine = LeaseNote(where="remote", epoch=1, nonce="mine", renewed_at=NOW, ttl_s=60)
    task = shown(HeldTask(42, lease(), here(claim=claim(lease=mine))))
    assert isinstance(task.situation, s.Lost)
    assert task.lane is Lane.NEEDS_YOU


def test_silent_ci_becomes_a_question():
    """No checks at all for longer than the limit: perhaps there is no CI."""
    task = shown(HeldTask(42, here=here(claim=opened(), last_sign=NOW - timedelta(hours=2))))
    assert (task.lane, task.reason) == (Lane.NEEDS_YOU, "no checks for 2 h: is CI switched on?")
