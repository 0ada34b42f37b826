"""Several agents at the same moment: in one worktree, in worktrees of one clone, and in clones of one repository."""

import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from support.clients import at_once
from support.clones import beside, long_ago, with_variables
from support.git_shim import GitShim
from support.neighbours import INSIDE, new_issues
from support.prove import PROVE
from support.stage import Theatre

NEXT = ("claim", "--next", "--worktree", "--json")


def sessions(theatre, count):
    """Return the clone as it looks from several sessions of Claude Code."""
    ids = (f"5e55{number:04x}-0000-4000-8000-000000000000" for number in range(count))
    return [with_variables(theatre, **INSIDE | {"CLAUDE_CODE_SESSION_ID": one}) for one in ids]


def claimed(ran):
    """Return what a claim won, from its JSON."""
    assert ran.status == 0, ran.stderr
    return json.loads(ran.stdout)


def at(theatre, root):
    """Return what acts in another worktree of the clone."""
    return Theatre(replace(theatre.stage, root=type(theatre.stage.root)(root)))


def held_refs(theatre):
    """Return the issues that have a claim ref."""
    refs = theatre.stage.world()["refs"]
    return {int(one["name"].rpartition("/")[2]) for one in refs if one["name"].startswith("refs/agentsync/claims/")}


@pytest.mark.parametrize("is_session", [False, True], ids=["terminals", "sessions"])
def test_agents_of_one_clone_get_a_task_each(theatre, is_session):
    """`claim --next --worktree` started together: everyone has an issue of its own, and can bring it to its end."""
    count = 10 if PROVE else 5
    new_issues(theatre, count)
    there = sessions(theatre, count) if is_session else [theatre] * count
    won = [claimed(ran) for ran in at_once([(one.stage, NEXT) for one in there])]
    issues = [one["claim"]["issue_number"] for one in won]
    assert len(set(issues)) == count
    assert len({one["root"] for one in won}) == count
    assert len({one["claim"]["agent_id"] for one in won}) == count
    assert held_refs(theatre) == set(issues)
    for one in won:
        number, home = one["claim"]["issue_number"], at(theatre, one["root"])
        assert theatre.card(number)["Agent"] == one["claim"]["agent_id"]
        home.stage.commit(f"{number}.txt", "x\n", f"Solve {number}")
        assert home.stage.command("push").status == 0
        handed = home.stage.command("handoff")
        assert handed.status == 0, handed.stderr
    assert len(theatre.pulls()) == count
    for one, pull in zip(won, theatre.pulls(), strict=True):
        theatre.stage.act("merge_pull", pull=pull["number"], method="merge")
        done = at(theatre, one["root"]).stage.command("done")
        assert done.status == 0, done.stderr
    assert {theatre.issue(number)["state"] for number in issues} == {"closed"}


def test_same_issue_for_two_new_worktrees_has_one_holder(theatre):
    """The second of two `claim 42 --worktree` at once ends with exit code 3 and says where the issue is held."""
    ran = at_once([(theatre.stage, ("claim", "42", "--worktree"))] * 2)
    assert sorted(one.status for one in ran) == [0, 3], [one.stderr for one in ran]
    lost = next(one for one in ran if one.status)
    home = theatre.stage.root.with_name(f"{theatre.stage.root.name}-42")
    assert f"Issue #42 is held in {home}" in lost.stderr
    there = at(theatre, home)
    there.stage.commit("a.txt", "a\n", "A")
    assert there.stage.command("push").status == 0


def test_a_claim_repeated_while_it_runs_is_one_claim(theatre):
    """A tool call that is repeated finds the issue held here: a success, and the lease stays."""
    theatre.stage.control("POST", "latency", {"ms": 100})
    for apart in (0, 0.3, 0.6):
        ran = at_once([(theatre.stage, ("claim", "42"))] * 3, apart_s=apart)
        assert [one.status for one in ran] == [0, 0, 0], [one.stderr for one in ran]
        assert sum("Claimed issue #42" in one.stdout for one in ran) == 1
        theatre.stage.commit("a.txt", f"{apart}\n", "A")
        assert theatre.stage.command("push").status == 0
        assert theatre.stage.command("release").status == 0
        theatre.git("switch", "-q", "main")


def test_two_claims_in_one_worktree_leave_one(theatre):
    """The claim file, the branch that is checked out and the lease are of the same issue; the other is free."""
    for _ in range(3):
        ran = at_once([(theatre.stage, ("claim", "42")), (theatre.stage, ("claim", "43"))])
        assert sorted(one.status for one in ran) == [0, 1], [one.stderr for one in ran]
        claim = theatre.stage.claim()
        assert theatre.git("branch", "--show-current") == claim["branch"]
        other = ({42, 43} - {claim["issue_number"]}).pop()
        assert "This worktree already holds" in next(one.stderr for one in ran if one.status)
        assert theatre.issue(other)["assignees"] == []
        assert theatre.stage.command("release").status == 0
        theatre.git("switch", "-q", "main")


@pytest.mark.parametrize("is_wide", [False, True], ids=["many free", "as many as agents"])
def test_clones_that_race_for_the_next_spread(theatre, is_wide):
    """Everyone gets a task; a lost race leads to another issue, not to the next meeting."""
    count = 20 if PROVE else 6
    new_issues(theatre, (count if is_wide else 2 * count) - 2)
    clones = [theatre, *(beside(theatre, f"clone-{number}") for number in range(1, count))]
    theatre.stage.control("DELETE", "requests")
    ran = at_once([(one.stage, ("claim", "--next", "--json")) for one in clones])
    won = [claimed(one) for one in ran]
    assert len({one["claim"]["issue_number"] for one in won}) == count
    assert len({one["claim"]["agent_id"] for one in won}) == count
    asked = theatre.stage.control("GET", "requests?git=1")
    requests = len([one for one in asked if ".git/" in one["path"]])
    assert requests <= 15 * count
    tasks = [one for one in asked if one["operation"] == "Task"]
    assert len(tasks) <= 4 * count
    left = at_once([(beside(theatre, "late").stage, ("claim", "--next"))])[0]
    if is_wide:
        assert (left.status, "Nothing on the board is ready" in left.stderr) == (6, True)
    else:
        assert left.status == 0


def holds(theatre, number):
    """Assert that an issue is held by one worktree of the clone, which can push, and that the board says so."""
    roots = [line.removeprefix("worktree ") for line in theatre.git("worktree", "list", "--porcelain").splitlines()]
    homes = [at(theatre, root) for root in roots if root.startswith("/")]
    (home,) = (one for one in homes if (one.stage.claim() or {}).get("issue_number") == number)
    assert theatre.card(number)["Agent"] == home.stage.claim()["agent_id"]
    assert theatre.issue(number)["assignees"] == ["octo"]
    assert home.git("branch", "--show-current") == home.stage.claim()["branch"]
    home.stage.commit(f"{number}.txt", "x\n", "Work")
    pushed = home.stage.command("push")
    assert pushed.status == 0, pushed.stderr
    assert not list((theatre.stage.root / ".git" / "agentsync" / "new-worktrees").glob("*.json"))
    return home


def killed_claim(theatre, call, moment):
    """Kill `claim --next --worktree` at one of its calls of git; tell whether it came that far."""
    shim = GitShim(theatre.stage)
    shim.arm(call, moment)
    theatre.stage.command(*NEXT)
    shim.disarm()
    return shim.calls() >= call


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("call", range(1, 12) if PROVE else (3, 6, 7))
@pytest.mark.parametrize(
    "again", [NEXT, ("claim", "42", "--worktree", "--json"), ("claim", "42", "--json")], ids=" ".join
)
def test_a_killed_claim_of_a_new_worktree_is_finished_by_the_next(theatre, call, moment, again):
    """Wherever it was killed: the next claim gets the issue, every side says so, and nothing is left behind."""
    if not killed_claim(theatre, call, moment):
        pytest.skip("the claim ended before")
    repeated = theatre.stage.command(*again)
    if repeated.status == 3:
        # It has a worktree by now, and that is said.
        assert f"Issue #42 is held in {theatre.stage.root}-42" in json.loads(repeated.stderr)["message"]
        finished = at(theatre, f"{theatre.stage.root}-42").stage.command("claim", "42")
        assert finished.status == 0, finished.stderr
    else:
        assert claimed(repeated)["claim"]["issue_number"] == 42
    holds(theatre, 42)


def test_take_over_goes_on_with_the_pushed_work_and_its_pull_request(theatre):
    """A clone that has not fetched starts at the former holder's commits, with the pull request and its card."""
    bob = beside(theatre, "bob", GH_TOKEN="as:bob")
    theatre.stage.act("role", user="bob", role="write")
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("half.txt", "half\n", "Half")
    assert theatre.stage.command("handoff").status == 0
    before, pull = theatre.git("rev-parse", "HEAD"), theatre.pulls()[0]["number"]
    played = bob.stage.command("claim", "42", "--take-over", "--yes")
    assert played.status == 0, played.stderr
    assert bob.git("rev-parse", "HEAD") == before
    claim = bob.stage.claim()
    assert (claim["phase"], claim["pr_number"], claim["status"]) == ("pr_created", pull, "In Review")
    assert theatre.card() == {"Status": "In Review", "Priority": "P1", "Agent": claim["agent_id"]}
    assert theatre.issue()["assignees"] == ["bob"]
    bob.stage.commit("rest.txt", "rest\n", "Rest")
    handed = bob.stage.command("handoff")
    assert handed.status == 0, handed.stderr
    assert [one["head_sha"] for one in theatre.pulls()] == [bob.git("rev-parse", "HEAD")]
    late = theatre.stage.command("push")
    assert (late.status, "is held by" in late.stderr) == (3, True)


@pytest.mark.parametrize("how", ["removed", "pruned"])
@pytest.mark.parametrize("again", [("claim", "42"), ("claim", "42", "--worktree")], ids=" ".join)
def test_a_worktree_that_was_deleted_by_hand_is_replaced(theatre, how, again):
    """The same claim made again goes on with the branch; the card and the assignment stay as they are."""
    assert theatre.stage.command("claim", "42", "--worktree").status == 0
    home = at(theatre, f"{theatre.stage.root}-42")
    home.stage.commit("half.txt", "half\n", "Half")
    head = home.git("rev-parse", "HEAD")
    shutil.rmtree(home.stage.root)
    if how == "pruned":
        theatre.git("worktree", "prune")
    played = theatre.stage.command(*again)
    assert played.status == 0, played.stderr
    assert holds(theatre, 42).git("rev-parse", "HEAD^") == head


def test_a_directory_in_the_way_is_left_alone(theatre):
    """The new worktree gets the next free name."""
    (theatre.stage.root.parent / f"{theatre.stage.root.name}-42").mkdir()
    assert claimed(theatre.stage.command("claim", "42", "--worktree", "--json"))["root"] == f"{theatre.stage.root}-42-2"
    holds(theatre, 42)


def test_a_claim_whose_lease_is_gone_says_so(theatre):
    """`claim 42` asks again once the claim has aged; a remote that is away is a warning."""
    bob = beside(theatre, "bob")
    with long_ago(theatre, 120):
        assert theatre.stage.command("claim", "42").status == 0
    theatre.fault("status:502", times=99, path="/octo/demo.git/")
    unsure = theatre.stage.command("claim", "42")
    assert (unsure.status, "could not be checked" in unsure.stderr) == (0, True), unsure.stderr
    theatre.stage.control("DELETE", "faults")
    assert "claimed here already" in theatre.stage.command("claim", "42").stdout
    assert bob.stage.command("claim", "42", "--take-over", "--yes").status == 0
    lost = theatre.stage.command("claim", "42")
    assert (lost.status, "is held by" in lost.stderr) == (3, True)


# What a holder does, and what came before it.
SLEEPERS = {
    "claim": ("claim", "42"),
    "push": ("push",),
    "handoff": ("handoff", "--later"),
    "open": ("on-stop",),
    "release": ("release",),
}
MOMENTS = [("claim", 4, "asleep-after"), ("claim", 6, "asleep-before"), ("push", 3, "asleep-before")]
MOMENTS += [("open", 3, "asleep-after"), ("release", 2, "asleep-after"), ("handoff", 7, "asleep-before")]
EVERY_MOMENT = [
    (step, call, when) for step in SLEEPERS for call in range(1, 10) for when in ("asleep-before", "asleep-after")
]


def prepare(theatre, step):
    """Bring the task to where a step begins."""
    if step == "claim":
        return
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("a.txt", "a\n", "A")
    if step == "open":
        assert theatre.stage.command("handoff", "--later").status == 0


@pytest.mark.parametrize(("step", "call", "moment"), EVERY_MOMENT if PROVE else MOMENTS)
def test_a_holder_that_wakes_after_a_take_over_writes_nothing(theatre, step, call, moment):
    """Put to sleep at any call of git, taken over, and woken: nothing of the new holder's is overwritten."""
    theatre.stage.act("role", user="bob", role="write")
    bob = beside(theatre, "bob", GH_TOKEN="as:bob")
    # So short a lease makes a short sleep a long one.
    theatre = with_variables(theatre, AGENT_SYNC_LEASE_TTL_S="1")
    prepare(theatre, step)
    shim = GitShim(theatre.stage)
    with ThreadPoolExecutor(1) as pool:
        shim.arm(call, moment)
        sleeper = pool.submit(lambda: at_once([(theatre.stage, SLEEPERS[step])], stdin="{}")[0])
        if not shim.is_asleep(limit_s=5):
            pytest.skip("the step ended before")
        shim.disarm()
        was, is_complete = lease_of(bob, 42)["state"], bool(theatre.card().get("Agent"))
        taken = bob.stage.command("claim", "42", "--take-over", "--yes")
        assert taken.status in {0, 3}, taken.stderr
        assert bob.stage.command("sync").status == 0 or taken.status
        before = theatre.stage.world()
        time.sleep(0.3)
        shim.wake()
        ran = sleeper.result(timeout=60)
    if taken.status:
        # There was nothing to take over: the sleeper had not begun, or it has given the issue back.
        return
    after = theatre.stage.world()
    assert {kind: after[kind] for kind in ("issues", "items", "refs", "pulls")} == {
        kind: before[kind] for kind in ("issues", "items", "refs", "pulls")
    }
    assert theatre.issue()["assignees"] == ["bob"]
    assert theatre.card()["Agent"] == bob.stage.claim()["agent_id"]
    said = ran.stdout + ran.stderr
    # A claim that was complete has been told before the sleep.
    assert "Claimed issue" not in said or is_complete
    # What was pushed before is told as it was then.
    is_done = was == "released" or (step == "claim" and is_complete)
    assert "for everyone" not in said or step in {"push", "handoff"} or is_done
    bob.stage.commit("b.txt", "b\n", "B")
    pushed = bob.stage.command("push")
    assert pushed.status == 0, pushed.stderr


KINDS = (
    ("claim", "42"),
    ("claim", "43"),
    ("push",),
    ("handoff",),
    ("release",),
    ("sync",),
    ("on-stop",),
    ("on-idle",),
    ("session-start",),
    ("reconcile",),
    ("status",),
)


def lease_of(theatre, number):
    """Return what the claim ref of an issue says, or nothing where it was never claimed."""
    name = f"refs/agentsync/claims/{number}"
    if not any(one["name"] == name for one in theatre.stage.world()["refs"]):
        return {"state": "never"}
    theatre.git("fetch", "-q", "origin", f"+{name}:refs/seen")
    return json.loads(theatre.git("show", "refs/seen:claim.json"))


def is_consistent(theatre):
    """Assert that claim file, checkout, leases, assignees and cards say the same of both issues."""
    claim = theatre.stage.claim() or {}
    if claim:
        assert theatre.git("branch", "--show-current") == claim["branch"]
    for number in (42, 43):
        lease, card = lease_of(theatre, number), theatre.card(number)
        if claim.get("issue_number") == number:
            assert (lease["state"], lease["nonce"]) == ("held", claim["lease"]["nonce"])
            assert (card["Agent"], theatre.issue(number)["assignees"]) == (claim["agent_id"], ["octo"])
        else:
            assert lease["state"] != "held"
            assert (card.get("Agent"), theatre.issue(number)["assignees"]) == (None, [])
            assert card["Status"] == "Todo"


@pytest.mark.parametrize("begins", ["free", "held"])
def test_commands_of_every_kind_at_once_leave_one_state(theatre, begins):
    """Whatever meets in one worktree: one command after the other acts, and no side contradicts another."""
    for number in range(20 if PROVE else 2):
        if begins == "held" and theatre.stage.claim() is None:
            assert theatre.stage.command("claim", "42").status == 0
        if theatre.stage.claim():
            theatre.stage.commit("a.txt", f"{number}\n", f"A {number}")
        ran = at_once([(theatre.stage, kind) for kind in KINDS], stdin="{}")
        assert {one.status for one in ran} <= {0, 1, 3, 8}, [one.stderr for one in ran]
        assert not any("Traceback" in one.stderr or "git said" in one.stderr for one in ran), [
            one.stderr for one in ran
        ]
        assert theatre.stage.command("sync").status in {0, 1}
        is_consistent(theatre)
        for pull in theatre.pulls():
            if pull["state"] == "open":
                theatre.stage.act("close_pull", pull=pull["number"])
        released = theatre.stage.command("release", "--force")
        assert released.status in {0, 1}, released.stderr
        theatre.git("switch", "-q", "main")
        is_consistent(theatre)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"id": 1}', '{"id": "x", "root": "/"}', '{"id": "\\ud800", "root": ""}']
)
def test_a_spoilt_note_of_a_new_worktree_keeps_no_issue(theatre, content):
    """What cannot be read of an unfinished claim is as good as none."""
    notes = theatre.stage.root / ".git" / "agentsync" / "new-worktrees"
    notes.mkdir(parents=True)
    (notes / "42.json").write_text(content)
    assert claimed(theatre.stage.command(*NEXT))["claim"]["issue_number"] == 42
    holds(theatre, 42)
