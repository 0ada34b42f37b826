"""The leases of one clone: renewed in one push, each for itself, and none of them for a task that nobody works on."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.clones import beside, git_requests, long_ago, ref, with_variables
from support.neighbours import INSIDE, SESSION, age, claimed, lease_shas, new_issues, state_of, wait_until
from support.prove import PROVE
from support.scratch_processes import processes_of
from support.sessions import Client
from support.stage import Theatre

MANY = 10 if PROVE else 4
PUSH = "git-receive-pack"


def claim_ref(issue):
    """Return the ref of an issue's claim."""
    return f"refs/agentsync/claims/{issue}"


@pytest.fixture
def client(theatre):
    """Start a client whose session works in the clone."""
    with Client(theatre, SESSION, **INSIDE) as found:
        yield found


def fire(theatre, name="on-tool"):
    """Let a hook of the session run in the main checkout, which has a say in all worktrees of the session."""
    theatre.stage.control("DELETE", "requests")
    theatre.hook(name, stdin=json.dumps({"session_id": SESSION, "cwd": str(theatre.stage.root)}), **INSIDE)


def left_to_expire(theatre, issue):
    """Claim an issue in a worktree of the session, with a lease that has run out before any event."""
    inside = with_variables(theatre, **INSIDE, AGENT_SYNC_LEASE_TTL_S="1")
    with long_ago(theatre):
        assert inside.stage.command("claim", str(issue), "--worktree").status == 0
    return Theatre(replace(inside.stage, root=theatre.stage.root.parent / f"{theatre.stage.root.name}-{issue}"))


def renewal_of(worktree, session="s"):
    """Start the process that a hook of a worktree starts when its lease is due."""
    command = [sys.executable, "-P", "-m", "agent_sync.events.parts.renewal_process"]
    return subprocess.Popen([*command, str(worktree.stage.root), session], cwd="/", env=worktree.stage.environment)


def renewed(theatre, worktrees, before):
    """Wait until the claim file of every worktree names a newer commit, which the remote has."""
    wait_until(lambda: all(old != new for old, new in zip(before, lease_shas(worktrees), strict=True)))
    issues = [worktree.stage.claim()["issue_number"] for worktree in worktrees]
    assert lease_shas(worktrees) == [ref(theatre, claim_ref(issue)) for issue in issues]


def test_one_push_renews_all_and_a_stolen_one_is_told_lost(theatre, client):
    """Many leases fall due, as many processes start: one push renews all but one, which is told that it was taken."""
    issues = new_issues(theatre, MANY)
    worktrees = claimed(theatre, client, *issues[1:])
    stolen = left_to_expire(theatre, issues[0])
    thief = beside(theatre, "bob", AGENT_SYNC_LEASE_ALLOWANCE_S="0")
    assert thief.stage.command("claim", str(issues[0]), "--take-over").status == 0
    before = lease_shas(worktrees)
    for worktree in worktrees:
        age(worktree)
    # An event has asked for this one already, so that whichever process is first takes it along.
    (state_of(stolen) / "renewal.tried").touch()
    fire(theatre)
    renewed(theatre, worktrees, before)
    wait_until(lambda: stolen.stage.claim()["lease"].get("lost_to"))
    # Whoever comes last finds nothing due, and has ended before the clone is taken away.
    wait_until(lambda: not processes_of(Path(theatre.stage.environment["HOME"]), "renewal_process"))
    assert git_requests(theatre).count(PUSH) == 1
    told = json.loads((state_of(stolen) / "outbox.json").read_text())
    assert "Stop working on it" in json.dumps(told)
    assert not list((state_of(theatre) / "intents").glob("*.json"))


def test_what_nobody_works_on_runs_out(theatre, client):
    """A neighbour's renewal keeps the lease of a live session and that of a waiting pull request, and no other one."""
    coding, busy, waiting, left = new_issues(theatre, 4)
    own, busy = claimed(theatre, client, coding, busy)
    with Client(theatre, "gone", **INSIDE) as other:
        waiting, left = claimed(theatre, other, waiting, left)
        waiting.stage.commit("work.txt", "work", "Work")
        # A person's handoff opens the pull request at once.
        person = with_variables(waiting, **dict.fromkeys(INSIDE, ""))
        assert person.stage.command("handoff", "--summary", "Work").status == 0
    held = [own, busy, waiting, left]
    before = lease_shas(held)
    for worktree in held:
        age(worktree)
    assert renewal_of(own).wait(60) == 0
    after = lease_shas(held)
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, True, True, False]
    assert after[3] == ref(theatre, claim_ref(left.stage.claim()["issue_number"]))
    shown = json.loads(theatre.stage.command("status", "--all", "--json").stdout)["claims"]
    assert len(shown) == len(held)


def test_one_process_renews_what_is_due_or_soon_to_be_in_pushes_of_the_allowed_size(theatre, client):
    """What falls due soon goes along and what is fresh waits; of several processes one renews, by two refs if it must."""
    worktrees = own, soon, _fresh = claimed(theatre, client, *new_issues(theatre, 3))
    before = lease_shas(worktrees)
    age(own)
    age(soon, 17)
    assert renewal_of(own).wait(60) == 0
    assert [old != new for old, new in zip(before, lease_shas(worktrees), strict=True)] == [True, True, False]

    # Processes that start together: nobody's lease is taken for lost, and there is one push.
    before = all_due(theatre, worktrees)
    running = [renewal_of(worktree) for worktree in worktrees]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    renewed(theatre, worktrees, before)
    assert git_requests(theatre).count(PUSH) == 1

    pushes_of_the_branch_count_as_renewals(theatre, own)

    # Where a push may update two refs only, three leases go out as two and one.
    theatre.stage.act("push_limit", refs=2)
    before = all_due(theatre, worktrees)
    assert renewal_of(own).wait(60) == 0
    renewed(theatre, worktrees, before)
    assert git_requests(theatre).count(PUSH) == 1 + 2


def pushes_of_the_branch_count_as_renewals(theatre, worktree):
    """`agent-sync push` and `handoff` move the lease with the branch: the next event finds no renewal due."""
    for number, command in enumerate((("push",), ("handoff", "--summary", "Work", "--later"))):
        worktree.stage.commit("work.txt", f"work {number}", "Work")
        age(worktree)
        assert worktree.stage.command(*command).status == 0
        assert git_requests(worktree) == [PUSH]
        assert worktree.stage.claim()["lease"]["sha"] == ref(theatre, claim_ref(worktree.stage.claim()["issue_number"]))
        fire(theatre)
        assert not (state_of(worktree) / "renewal.tried").exists()


def all_due(theatre, worktrees):
    """Let all leases fall due, with no request so far; return the claim commits of now."""
    for worktree in worktrees:
        age(worktree)
    theatre.stage.control("DELETE", "requests")
    return lease_shas(worktrees)


def test_killed_between_push_and_settling(theatre, client):
    """Whoever is killed with its push landed or under way leaves intents; the next run has all of them right."""
    worktrees = claimed(theatre, client, *new_issues(theatre, 3))
    refs = [claim_ref(worktree.stage.claim()["issue_number"]) for worktree in worktrees]
    intents = state_of(theatre) / "intents"
    for moment in ("drop_after_apply", "delay:3"):
        before = all_due(theatre, worktrees)
        theatre.fault(moment, path="/octo/demo.git/git-receive-pack")
        # It looks for what became of its push, and is killed before it knows.
        theatre.fault("delay:30", operation="git-upload-pack")
        process = renewal_of(worktrees[0])
        wait_until(lambda: intents.exists() and len(list(intents.glob("*.json"))) == len(worktrees))
        if moment == "drop_after_apply":
            wait_until(lambda old=before: not {ref(theatre, one) for one in refs} & {*old})
        else:
            wait_until(lambda: PUSH in git_requests(theatre))
        arrival = time.monotonic() + 3
        process.kill()
        process.wait(60)
        theatre.stage.control("DELETE", "faults")
        assert renewal_of(worktrees[1]).wait(60) == 0
        if moment == "delay:3":
            # What the killed one has sent may still arrive, and finds that the refs have moved.
            time.sleep(max(0.0, arrival - time.monotonic()))
        assert lease_shas(worktrees) == [ref(theatre, one) for one in refs], moment
        assert not list(intents.glob("*.json")), moment
        assert not any(worktree.stage.claim()["lease"].get("lost_to") for worktree in worktrees), moment
