"""What is wrong with hooks and claims, and what mends it."""

from datetime import timedelta

import pytest
import time_machine
from support.fleet import spoil
from support.work_hooks import MINUTE, NOW, WORKER, complete, failed, handed_off, slung, started, task

from agent_sync.errors import Conflict
from agent_sync.leases.model import Holder, Lease, LeaseMode, LeaseState, Tip
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import Doubt, Unknown, Unreadable
from agent_sync.system import clock
from agent_sync.work.findings import Repair, findings
from agent_sync.work.handoff import HandoffNote, hand_off
from agent_sync.work.hook.model import AttemptEnding
from agent_sync.work.hook.names import WorkerName
from agent_sync.work.hook.reading import view_here
from agent_sync.work.hook.states import WorkState
from agent_sync.work.hook.view import HookSeen, WorkView, derived_states
from agent_sync.work.repair import examine, repair
from agent_sync.work.sling import Sling, sling
from agent_sync.work.take import take

HOUR = timedelta(hours=1)
HOOK, CLAIM = "refs/agentsync/hooks/main/w1", "refs/agentsync/claims/42"
W1 = WorkerName("main", "w1")


def tip(**fields):
    """Return the claim that goes with the hooks of these tests."""
    values = {
        "issue": 42,
        "holder": Holder(host="vm", user="u", worktree="a" * 32),
        "epoch": 1,
        "nonce": "1" * 32,
        "state": LeaseState.HELD,
        "acquired_at": NOW,
        "renewed_at": NOW,
        "ttl_s": 3600.0,
    }
    return Tip("f" * 40, Lease(**(values | fields)), Where.REMOTE)


OTHER = tip(nonce="2" * 32)
BROKEN = Unreadable(42, "f" * 40, Unknown(Doubt.UNREADABLE, "no claim.json"))
LATE = NOW + 2 * HOUR
TWICE = tuple(
    failed().attempts[0].model_copy(update={"number": place, "started": NOW + place * MINUTE}) for place in (1, 2)
)


def tried_twice():
    """Return work under way whose first two tries came to nothing."""
    hook = started()
    running = hook.attempts[0].model_copy(update={"number": 3})
    return type(hook)(hook.status, hook.task, hook.context, attempts=(*TWICE, running))


@pytest.mark.parametrize(
    ("hook", "claim", "now", "wanted"),
    [
        pytest.param(slung(), tip(mode=LeaseMode.MANUAL), LATE, [], id="waiting"),
        pytest.param(started(), tip(), NOW + HOUR, [], id="at work"),
        pytest.param(complete(), None, LATE, [], id="done, claim gone"),
        pytest.param(started(), OTHER, NOW, [("orphaned", Repair.CANCEL)], id="somebody else holds it"),
        pytest.param(
            started(), tip(state=LeaseState.RELEASED), NOW, [("orphaned", Repair.CANCEL)], id="claim given back"
        ),
        pytest.param(slung(), None, NOW, [("orphaned", Repair.CANCEL)], id="hook without claim, not begun"),
        pytest.param(handed_off(), None, NOW, [("orphaned", Repair.REQUEUE)], id="hook without claim, begun"),
        pytest.param(started(), tip(), LATE, [("expired", Repair.REQUEUE)], id="expired"),
        pytest.param(tried_twice(), tip(), LATE, [("expired", Repair.GIVE_UP)], id="expired for the third time"),
        pytest.param(started(), tip(pr=7), LATE, [("expired", Repair.TELL)], id="expired with a pull request"),
        pytest.param(started(), BROKEN, NOW, [("unreadable claim", Repair.TELL)], id="claim unreadable"),
        pytest.param(
            slung(timeout=NOW + MINUTE), tip(mode=LeaseMode.MANUAL), LATE, [("overdue", Repair.TELL)], id="overdue"
        ),
        pytest.param(
            type(slung())(slung().status, task(type="other"), slung().context),
            tip(mode=LeaseMode.MANUAL),
            NOW,
            [("evidence", Repair.TELL)],
            id="context of another task",
        ),
    ],
)
def test_findings(hook, claim, now, wanted):
    """Each kind of trouble has its mending and a reason; what is as it should be has none."""
    view = WorkView(Where.REMOTE, {WORKER: HookSeen(WORKER, "e" * 40, hook)}, {42: claim} if claim else {})
    found = findings(view, now)
    assert [(one.kind, one.repair) for one in found] == wanted
    assert all(one.reason for one in found)


def test_findings_without_hooks():
    """Damage is restored, a newer hook left alone, and a slung claim without its hook released."""
    slung_claim = {42: tip(phase="slung to main/w1", mode=LeaseMode.MANUAL)}
    assert [one.repair for one in findings(WorkView(Where.REMOTE, {}, slung_claim), NOW)] == [Repair.RELEASE]
    assert findings(WorkView(Where.REMOTE, {}, {42: tip(phase="coding")}), NOW) == ()
    unreadable_commits = {WORKER: HookSeen(WORKER, "e" * 40, None, "broken")}
    # The claim may belong to the hook that cannot be read.
    assert [one.repair for one in findings(WorkView(Where.REMOTE, unreadable_commits, slung_claim), NOW)] == [
        Repair.RESTORE
    ]
    newer = {WORKER: HookSeen(WORKER, "e" * 40, None, "newer", is_too_new=True)}
    assert [one.repair for one in findings(WorkView(Where.REMOTE, newer, {}), NOW)] == [Repair.TELL]


@pytest.mark.parametrize(
    ("hook", "claim", "now", "wanted"),
    [
        (started(), OTHER, NOW, ("orphaned",)),
        (started(timeout=NOW + MINUTE), tip(), LATE, ("expired", "overdue")),
        (complete(), None, LATE, ()),
    ],
)
def test_what_is_computed_is_never_stored(hook, claim, now, wanted):
    """Orphaned, expired and overdue follow from what is there."""
    view = WorkView(Where.REMOTE, {}, {42: claim} if claim else {})
    assert derived_states(view, hook, now) == wanted


def view_of(machine):
    """Return what a machine sees."""
    return view_here(machine.context())


def outcome(machine):
    """Look, mend, and return what was done and what is still wrong."""
    _, found = examine(machine.context())
    mended = repair(machine.context(), found)
    return [(one.finding.repair, one.is_done) for one in mended], examine(machine.context())[1]


def test_looking_changes_nothing(fleet):
    """Without being told to, repair writes nothing."""
    machine = fleet.machine("one")
    sling(machine.context(), Sling(42, "w1"))
    machine.git("push", "-q", "origin", f":{CLAIM}")
    before = fleet.refs()
    assert [one.repair for one in examine(machine.context())[1]] == [Repair.CANCEL]
    assert fleet.refs() == before


def test_hook_without_claim_is_mended(fleet):
    """Work that was begun is claimed anew and put back, once; work that was not is taken off."""
    one, two = fleet.machine("one"), fleet.machine("two")
    sling(one.context(), Sling(42, "w1"))
    take(one.context(), "w1")
    one.git("push", "-q", "origin", f":{CLAIM}")
    assert outcome(two) == ([(Repair.REQUEUE, True)], ())
    hook = view_of(two).hooks[W1].hook
    assert (hook.state, hook.attempts[-1].outcome, hook.status.nonce) == (
        WorkState.PENDING,
        AttemptEnding.ABANDONED,
        view_of(two).claims[42].lease.nonce,
    )
    assert take(two.context(), "w1").work.runs
    two.git("push", "-q", "origin", f":{HOOK}")
    assert examine(two.context())[1] == ()


def test_slung_claim_without_hook_is_released(fleet):
    """A claim made for a hook that is gone is given back, so that the issue is free."""
    machine = fleet.machine("one")
    sling(machine.context(), Sling(42, "w1"))
    machine.git("push", "-q", "origin", f":{HOOK}")
    assert outcome(machine) == ([(Repair.RELEASE, True)], ())
    assert sling(machine.context(), Sling(42, "w2")).value.hook.state is WorkState.PENDING


def test_damaged_hook_goes_back_to_what_can_be_read(fleet):
    """The last readable state comes back as a new commit; the damage stays in the history."""
    machine = fleet.machine("one")
    for state, restored in ((WorkState.EMPTY, "Restore an empty hook"), (WorkState.PENDING, "Restore issue-42")):
        if state is WorkState.PENDING:
            sling(machine.context(), Sling(42, "w1"))
        spoil(machine, HOOK, b"{")
        assert outcome(machine) == ([(Repair.RESTORE, True)], ())
        assert view_of(machine).hooks[W1].hook.state is state
        assert fleet.messages()[-2:] == ["Spoil", restored]


@pytest.fixture
def expired(fleet):
    """Let work be under way whose claim has run out an hour ago, seen from a second machine."""
    machine = fleet.machine("one")
    with time_machine.travel(clock.now() - 3 * HOUR):
        sling(machine.context(), Sling(42, "w1"))
        take(machine.context(), "w1")
    return machine, fleet.machine("two")


def test_expired_work_is_put_back(fleet, expired):
    """Work whose claim has run out is claimed for the hook again; the worker that comes back too late has lost it.

    A finding is looked at again before it is mended: work that somebody has begun since is not put back.
    """
    one, two = expired
    _, found = examine(two.context())
    assert [(done.finding.repair, done.is_done) for done in repair(two.context(), found)] == [(Repair.REQUEUE, True)]
    assert examine(two.context())[1] == ()
    before = fleet.refs()
    with pytest.raises(Conflict, match="not held by this worktree"):
        hand_off(one.context(), "w1", HandoffNote())
    assert fleet.refs() == before
    begun = take(two.context(), "w1")
    assert (begun.work.tip.lease.epoch, len(begun.work.hook.attempts)) == (4, 2)
    before = fleet.refs()
    assert [(done.is_done, done.trouble) for done in repair(two.context(), found)] == [(False, "")]
    assert fleet.refs() == before


def test_branch_that_moved_keeps_the_work(fleet, expired):
    """Whoever still pushes is at work, whatever the claim says."""
    one, two = expired
    one.commit("work.txt")
    one.git("push", "-q", "origin", "claude/fix-it-42")
    before = fleet.refs()
    _, found = examine(two.context())
    (mended,) = repair(two.context(), found)
    assert (mended.is_done, "someone may be working on it" in mended.trouble) == (False, True)
    assert fleet.refs() == before


def test_third_expiry_asks_a_human(fleet, expired):
    """Work that was given up three times is failed, and a human is asked once."""
    _, two = expired
    for _ in range(2):
        outcome(two)
        with time_machine.travel(clock.now() - 3 * HOUR):
            take(two.context(), "w1")
        (two.root / ".agent-claim.json").unlink()
    three = fleet.machine("three")
    assert outcome(three) == ([(Repair.GIVE_UP, True)], ())
    assert view_of(three).hooks[W1].hook.result.error.code == "attempts-exhausted"
    assert (fleet.issues.labels, len(fleet.issues.comments)) == ([(42, "needs-human")], 1)
