import itertools
from datetime import timedelta

import pytest
from support.claims import NOW, claim
from support.github import pull

from agent_sync.task.claim.drift_seen import DriftSeen
from agent_sync.task.claim.model import FeedbackSeen, WithheldNote
from agent_sync.task.claim.phases import Phase, WithheldBy
from agent_sync.task.decision import actions as a
from agent_sync.task.decision.drift.drift_actions import DriftNoted
from agent_sync.task.decision.evolve import ImpossibleTransition, evolve
from agent_sync.task.decision.feedback import feedback_actions as f
from agent_sync.task.decision.feedback.checks import CI, ChecksVerdict
from agent_sync.task.decision.notice import Notice
from agent_sync.task.decision.steps import TRANSITIONS

NOTICE = Notice("i", "t")
VERDICT = ChecksVerdict(CI.RUNNING, "a" * 40, passed=2, running=1)
OUTCOMES = [
    a.BranchPushed("a"),
    a.PullOpened(pull(), "In Review"),
    a.PullAdopted(pull(), "In Review"),
    a.PullRefused("no"),
    a.StepWithheld(WithheldBy.GATE, NOTICE),
    a.FeedbackNoted(pull(is_conflicting=True)),
    f.JobsRerun(pull(), ("lint",), "network failed"),
    f.ReviewRequested(pull(), ("mona",), ("PRR_1",)),
    a.CardMoved("In Review"),
    a.CardRefused("In Review", "why"),
    a.ChecksUnsettled(pull(), VERDICT, NOW),
    a.ChecksNoted(pull(), VERDICT, NOW),
    a.PullMerged(pull()),
    a.ClosedByMerge(pull()),
    a.PullClosed(pull()),
    a.PullReopened(pull()),
    DriftNoted(pull(), DriftSeen(base="develop")),
    f.PullUnmoved(NOW),
    a.PauseNoted(NOW, NOW),
    a.HandedOff("s", "b", draft=False, status="In Review"),
    a.Consented(even_unmerged=True),
    a.TaskClosed(),
    a.ClaimDeleted(),
    a.LeaseLost("ann"),
    a.LeftOnHook("main/w1"),
    a.LeaseUnknown("why"),
    a.Said(NOTICE),
]


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: type(outcome).__name__)
@pytest.mark.parametrize("phase", Phase)
def test_every_pair_is_in_the_table_or_refused(outcome, phase):
    """Whatever happens in whatever phase: the table says what follows, or it cannot happen."""
    allowed = TRANSITIONS[type(outcome)]
    if phase in allowed:
        assert allowed[phase] == evolve(claim(phase), outcome).phase
    else:
        with pytest.raises(ImpossibleTransition):
            evolve(claim(phase), outcome)


def test_every_outcome_is_tried_here():
    """A new kind of outcome must be added to the table and to these tests."""
    assert set(TRANSITIONS) == {type(outcome) for outcome in OUTCOMES} == set(a.Outcome.__args__)


@pytest.mark.parametrize(
    ("phase", "outcome", "expected"),
    [
        pytest.param(
            Phase.READY_FOR_PR,
            a.PullOpened(pull(), "In Review"),
            {"pr_number": 107, "status": "In Review", "last_synced_status": "In Review"},
            id="opened",
        ),
        pytest.param(
            Phase.READY_FOR_PR,
            a.PullOpened(pull(), "In Review", "no such option"),
            {
                "pr_number": 107,
                "status": "In Review",
                "last_synced_status": "In Progress",
                "refused_status": "In Review",
            },
            id="opened, board in trouble: not recorded as synced",
        ),
        pytest.param(
            Phase.PR_CREATED,
            a.ChecksUnsettled(pull(), VERDICT, NOW),
            {"last_check_poll": NOW, "phase": Phase.CHECKS_RUNNING},
            id="polled",
        ),
        pytest.param(
            Phase.CODING,
            a.CardMoved("In Review"),
            {"last_synced_status": "In Review", "refused_status": None},
            id="card moved",
        ),
        pytest.param(
            Phase.PR_CREATED,
            a.PullClosed(pull()),
            {"closed_unmerged": True, "phase": Phase.PR_CREATED},
            id="closed unmerged keeps the phase",
        ),
        pytest.param(
            Phase.CHECKS_RUNNING,
            a.HandedOff("new", "b", draft=True, status="In Review"),
            {"summary": "new", "branch": "b", "draft": True, "closed_unmerged": False},
            id="handed off again",
        ),
        pytest.param(
            Phase.MERGED_DETECTED,
            a.Consented(even_unmerged=False),
            {"phase": Phase.DONE, "close_unmerged": False},
            id="consent",
        ),
        pytest.param(
            Phase.READY_FOR_PR,
            a.StepWithheld(WithheldBy.COMMITS, NOTICE),
            {"withheld": WithheldNote(by=WithheldBy.COMMITS, reason="t"), "phase": Phase.READY_FOR_PR},
            id="why there is no PR is kept",
        ),
        pytest.param(
            Phase.PR_CREATED,
            a.FeedbackNoted(pull(changes_requested_by=("mona",))),
            {"feedback": FeedbackSeen(changes_requested_by=("mona",), missing="changes requested")},
            id="who wants changes is kept",
        ),
        pytest.param(
            Phase.PR_CREATED, a.FeedbackNoted(pull()), {"feedback": None}, id="nothing stands against a merge"
        ),
    ],
)
def test_fields_that_change_together(phase, outcome, expected):
    """One outcome, one write: all fields that belong together."""
    after = evolve(claim(phase), outcome)
    assert expected == {key: getattr(after, key) for key in expected}


def test_a_pause_ends_with_the_next_success():
    """The moment GitHub named is forgotten as soon as something worked again."""
    paused = evolve(claim(), a.PauseNoted(NOW + timedelta(minutes=1), NOW))
    assert paused.not_before >= NOW + timedelta(minutes=1)
    assert evolve(paused, a.CardMoved("x")).not_before is None
    assert evolve(paused, a.Said(NOTICE)).not_before is not None


@pytest.mark.parametrize(
    ("wait_s", "most_s"), [(0, 5), (10, 5), (60, 6), (300, 30), (600, 60), (3600, 60)], ids=lambda value: f"{value} s"
)
def test_agents_come_back_after_the_limit_one_after_the_other(wait_s, most_s):
    """Each agent has its own moment, always the same: up to a tenth of the wait later, within bounds."""
    pause = a.PauseNoted(NOW + timedelta(seconds=wait_s), NOW)
    agents = [claim(agent_id=f"octo-{number}", issue_number=number) for number in range(1, 101)]
    moments = [evolve(agent, pause).not_before for agent in agents]
    assert moments == [evolve(agent, pause).not_before for agent in agents]
    shifts = sorted((moment - pause.until).total_seconds() for moment in moments)
    assert 0 <= shifts[0] < most_s * 0.2
    assert most_s * 0.8 < shifts[-1] <= most_s
    assert max(later - sooner for sooner, later in itertools.pairwise(shifts)) < most_s * 0.2


def test_a_new_attempt_forgets_why_the_last_one_failed():
    """What withheld the pull request is forgotten with the next handoff and once it is open."""
    withheld = evolve(claim(Phase.READY_FOR_PR), a.StepWithheld(WithheldBy.COMMITS, NOTICE))
    again = a.HandedOff("s", "b", draft=False, status="In Review")
    assert [evolve(withheld, outcome).withheld for outcome in (again, a.PullOpened(pull(), "x"))] == [None, None]
