"""What comes of writes whose answer is lost, and of reads: nothing is ever done twice."""

from functools import partial

import pytest
from behaviour import MARKER, change_of, closure, order

from agent_sync.errors import GitHubDown
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.facts import PullState

BEFORE = "drop_before"
AFTER = ("drop_after_apply", "garbage", "truncate")
QUICK = {"url": "", "timeout_s": 0.5}


def lost(write, wanted):
    """Return the error of a write whose answer was lost."""
    with pytest.raises(GitHubDown) as raised:
        write(wanted)
    assert raised.value.maybe_applied
    return raised.value


def test_a_lost_pull_is_found_and_not_opened_again(local):
    """Whether the server acted or not, one more look leads to exactly one pull request with its card in review."""
    heads = []
    for fault in (BEFORE, *AFTER):
        heads.append(local.push(f"work-{fault}", path=f"{fault}.txt"))
        local.act("set_field", issue=42, field="Status", value="Todo")
        gateway = local.gateway()
        local.operations()
        local.fault(fault, operation="OpenPull")
        lost(gateway.open_pull, order(gateway, branch=heads[-1]))
        assert local.operations().count("OpenPull") == 1, fault
        seen = local.gateway().lookup(branch=heads[-1], issue=42)
        if not seen.pulls:
            assert fault == BEFORE
            gateway.open_pull(order(gateway, branch=heads[-1]))
        assert [pull["head"] for pull in local.state()["pulls"]] == heads, fault
        assert local.card()["Status"] == "In Review", fault


@pytest.mark.parametrize("fault", [BEFORE, *AFTER])
def test_a_lost_close_is_finished_and_not_repeated(local, fault):
    """Whether the server acted or not, one more look leads to one comment, a closed issue and a card in Done."""
    local.act("set_field", issue=42, field="Agent", value="octo-1")
    gateway = local.gateway()
    local.fault(fault, operation="CloseTask")
    lost(gateway.close_task, closure(gateway))
    seen = gateway.closing(issue=42, pull=None, branch="work", marker=MARKER)
    assert seen.has_comment == (not seen.is_open) == (fault != BEFORE)
    if seen.is_open:
        assert gateway.close_task(closure(gateway)) == ""
    assert len(local.state()["comments"]) == 1
    assert next(i["state"] for i in local.state()["issues"] if i["number"] == 42) == "closed"
    assert (local.card()["Status"], local.card().get("Agent")) == ("Done", None)


def test_a_lost_claim_is_not_repeated_by_itself(local):
    """A claim whose answer is lost is told as such after one request."""
    for issue, fault in zip((41, 42, 43, 44), (BEFORE, *AFTER), strict=True):
        gateway = local.gateway()
        task = gateway.task(issue)
        change = card_change(task.card, status="In Progress", agent="octo-1")[0]
        local.operations()
        local.fault(fault, operation="ClaimTask")
        lost(partial(gateway.claim_task, task), change)
        assert local.operations() == ["ClaimTask"], fault


def test_a_lost_read_is_asked_again(local):
    """Reads survive two failures of any kind, with a growing pause before each new try."""
    for fault in (BEFORE, *AFTER):
        local.slept.clear()
        local.fault(fault, times=2, operation="Card")
        gateway = local.gateway()
        assert gateway.card(42).status == "Todo", fault
        assert gateway.requests == 3, fault
        assert len(local.slept) == 2, fault
        assert 0.15 <= local.slept[0] <= 0.3 < local.slept[1] <= 1.0, fault


def test_a_read_is_given_up_after_three_tries(local):
    """The third failure in a row is told, in words a person can act on."""
    local.fault("garbage", times=3, operation="Card")
    with pytest.raises(GitHubDown, match=r"an HTML page, perhaps of a proxy.*looking for the card") as raised:
        local.gateway().card(42)
    assert not raised.value.maybe_applied
    assert local.operations() == ["Card"] * 3


def test_a_slow_read_runs_out_of_time(local):
    """An answer that takes longer than the limit is given up, three times."""
    local.fault("delay:1.5", times=3, operation="Card")
    gateway = local.gateway(github=QUICK | {"url": local.url})
    with pytest.raises(GitHubDown, match="did not answer in time"):
        gateway.card(42)
    assert gateway.requests == 3


def test_a_slow_write_may_have_been_done(local):
    """A write that runs out of time is told as possibly done, and not repeated."""
    gateway = local.gateway(github=QUICK | {"url": local.url})
    change = change_of(gateway)
    local.fault("delay:1.5", operation="MoveCard")
    lost(gateway.move_card, change)
    assert gateway.requests == 2


def test_a_write_to_nobody_was_certainly_not_done(local):
    """A refused connection is tried again, and never told as possibly done."""
    gateway = local.gateway()
    change = change_of(gateway)
    dead = local.gateway(github={"url": "http://127.0.0.1:9"})
    with pytest.raises(GitHubDown, match="cannot be reached") as raised:
        dead.move_card(change)
    assert not raised.value.maybe_applied
    assert dead.requests == 3


def test_a_limited_write_is_done_after_the_wait(local):
    """A write that a limit turned away was not done, so it is repeated when the wait is short enough."""
    gateway = local.gateway(hooks={"rate_limit_wait_s": 90.0})
    change = change_of(gateway)
    local.fault("secondary_limit", operation="MoveCard")
    gateway.move_card(change)
    assert local.slept == [60.0]
    assert local.card()["Status"] == "In Review"


def test_a_pull_opened_twice_at_once_is_one(local):
    """Two sessions that open the same pull request end with one; the loser is told why."""
    local.push()
    first, second = local.gateway(), local.gateway()
    late = order(second)
    first.open_pull(order(first))
    with pytest.raises(Exception, match="A pull request already exists"):
        second.open_pull(late)
    assert [pull.state for pull in second.lookup(branch="work", issue=42).pulls] == [PullState.OPEN]
