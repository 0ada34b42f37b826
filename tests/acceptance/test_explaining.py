"""`agent-sync explain`: what a task waits for, who acts, what happens when, and the log lines that prove it."""

import json

from support.clones import SHORT, beside, long_ago, with_variables


def explained(theatre, *arguments):
    """Return an explanation for programs."""
    played = theatre.stage.command("explain", "--json", *arguments)
    assert played.status == 0, played.stderr
    return json.loads(played.stdout)


def opened(theatre):
    """Open PR #45 for issue 42."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    assert theatre.stage.command("handoff", "--summary", "Fix the race").status == 0


def test_an_own_task_while_github_is_away_with_red_ci_and_merged(theatre):
    """The same words as in `status` and the fleet, whatever befalls the pull request; nothing is written."""
    opened(theatre)
    the_rest_is_explained_while_github_cannot_be_asked(theatre)
    theatre.stage.control("DELETE", "faults")
    theatre.edit_claim(not_before=None)
    red_ci_is_explained(theatre)
    explaining_writes_nothing(theatre)


def red_ci_is_explained(theatre):
    """The next look has a time, and the log lines are of this issue."""
    theatre.stage.act("add_check", pull=45, name="lint", status="completed", conclusion="failure")
    theatre.stage.command("sync")
    found = explained(theatre)
    assert (found["issue"], found["situation"]["name"], found["next"]) == (42, "CIFailed", "agent-sync push")
    assert 'CI failed: "lint"' in found["waits_for"]
    assert "PR #45 open, CI failed, 0/1" in {one["found"] for one in found["looked_at"]}
    assert "next look at the pull request" in found["upcoming"][0]["what"]
    assert {line["issue"] for line in found["log"]} == {42}
    assert "PullOpened" in {line["what"] for line in found["log"]}
    text = theatre.stage.command("explain").stdout
    assert "Who acts:" in text
    assert "What was done: agent-sync log" in text
    assert "others see" not in text
    assert "requests=" not in text
    assert text.rstrip().endswith("Next: agent-sync push")


def explaining_writes_nothing(theatre):
    """Explaining a merge changes neither the claim nor GitHub."""
    before = (theatre.stage.claim(), theatre.stage.world()["items"])
    theatre.stage.act("merge_pull", pull=45)
    found = explained(theatre)
    assert found["situation"]["name"] == "AwaitingConsent"
    assert [one["side"] for one in found["differences"]] == ["pull request", "lease"]
    assert (theatre.stage.claim(), theatre.stage.world()["items"]) == before
    assert {name for name in theatre.operations() if name} <= {"Poll", "Task"}


def the_rest_is_explained_while_github_cannot_be_asked(theatre):
    """An outage or a reached limit is itself the answer: said with its time, from what is known here."""
    theatre.fault("status:502", times=20, path="/graphql")
    found = explained(theatre)
    assert found["situation"]["name"] == "Watching"
    assert any(one["what"] == "GitHub" and "could not be asked" in one["found"] for one in found["looked_at"])
    assert found["differences"] == []
    theatre.stage.control("DELETE", "faults")
    theatre.fault("primary_limit", times=20, path="/graphql")
    theatre.hook("on-idle", AGENT_SYNC_CHECKS_BACKOFF_S="0", AGENT_SYNC_HOOKS_RATE_LIMIT_WAIT_S="0")
    paused = explained(theatre)
    assert (paused["situation"]["name"], theatre.operations()) == ("Paused", [])
    assert "GitHub may be asked again" in {one["what"].partition(":")[0] for one in paused["upcoming"]}


def test_an_issue_held_elsewhere(theatre):
    """The lease says who and until when; that it cannot be taken over yet is said with the reason."""
    holder = beside(theatre, "bob", CLAUDECODE="1")
    assert holder.stage.command("claim", "42").status == 0
    found = explained(theatre, "42")
    assert "it has not expired" in found["sentence"]
    assert "others may take the issue over" in found["upcoming"][0]["what"]
    assert any("held by" in one["found"] for one in found["looked_at"])
    assert found["next"] == ""


def test_a_claim_made_by_hand_elsewhere_may_be_taken_over_by_a_person(theatre):
    """A person reads the command, which works; an agent reads that only a person may."""
    assert beside(theatre, "bob").stage.command("claim", "42").status == 0
    in_session = explained(with_variables(theatre, CLAUDECODE="1"), "42")
    assert "Only a person may take it over: it was claimed by hand and never expires." in in_session["sentence"]
    assert in_session["next"] == ""
    found = explained(theatre, "42")
    assert "It was claimed by hand and never expires: you may take it over." in found["sentence"]
    assert found["next"] == "agent-sync claim 42 --take-over --yes"
    assert theatre.stage.command(*found["next"].split()[1:]).status == 0


def test_an_expired_claim_elsewhere_may_be_taken_over(theatre):
    """Once it has run out, the command that takes it over is named, and works."""
    holder = beside(theatre, "bob", **SHORT)
    with long_ago(theatre):
        assert holder.stage.command("claim", "42").status == 0
    theatre.stage.control("POST", "clock", {"advance_s": 5})
    here = with_variables(theatre, AGENT_SYNC_LEASE_ALLOWANCE_S="0")
    found = explained(here, "42")
    assert found["next"] == "agent-sync claim 42 --take-over"
    assert here.stage.command(*found["next"].split()[1:]).status == 0


def test_issues_that_nobody_holds(theatre):
    """A free issue names the claim; a blocked one its blocker; a closed one that it is closed; held by assignment."""
    free, blocked = explained(theatre, "42"), explained(theatre, "#41")
    assert (free["next"], free["who"]) == ("agent-sync claim 42", "anybody")
    assert "blocked by #40" in blocked["waits_for"]
    assert "is closed" in explained(theatre, "44")["waits_for"]
    assert explained(theatre, "40")["who"] == "others"


def test_without_a_claim_and_without_a_number(theatre):
    """There is nothing to explain: the error names what leads on; an odd number is refused."""
    played = theatre.stage.command("explain")
    assert (played.status, "agent-sync next" in played.stderr) == (1, True)
    assert theatre.stage.command("explain", "soon").status == 2
