"""Families of failures that other tools are known for, played against the local GitHub.

Here are the rows that no other file plays. Elsewhere: late, cheap and missing checks, reruns, approval, twins of another
event (`test_ci_and_reviews`), every conclusion (`test_checks`), a head that moves between two pages
(`test_gateway_trouble`); lost answers of claim, opening and closing (`test_interruptions`), old pull requests of a branch
(`test_script_defects`); merge, squash and rebase (`test_branches`); limits and outages (`test_quota_and_outage`), slow
answers (`test_script_defects`); hostile titles, names, logs and issues (`test_foreign_text`, `test_ci_and_reviews`,
`test_issue_text`).
"""

import pytest
from support.stage import agent, human

AT_ONCE = {"AGENT_SYNC_CHECKS_BACKOFF_S": "0"}


@pytest.fixture
def opened(theatre):
    """Claim an issue and open a pull request for it."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("work.txt", "work\n", "Work")
    assert theatre.stage.command("handoff", "--summary", "Work").status == 0
    return theatre


def look(theatre):
    """Return what an idle look tells the agent and the human."""
    played = theatre.hook("on-idle", **AT_ONCE)
    assert played.status == 0
    return f"{agent(played)}\n{human(played)}"


def check(name, conclusion, **more):
    """Return a check that reports on the pull request's head."""
    return "add_check", {"pull": 45, "name": name, "conclusion": conclusion, **more}


def status(state):
    """Return a commit status of something that is not Actions."""
    return "add_status", {"pull": 45, "context": "ci/external", "state": state}


VERDICTS = {
    "skipped and neutral pass": ([check("a", "skipped"), check("b", "neutral")], "PR #45 is ready to merge."),
    "cancelled fails": ([check("a", "success"), check("b", "cancelled")], '1 FAILED — "b"'),
    "timed out fails": ([check("a", "timed_out")], '1 FAILED — "a"'),
    "a status passes": ([status("success")], "PR #45 is ready to merge."),
    "a status runs": ([check("a", "success"), status("pending")], "1/2 passed, 1 running"),
    "a status fails": ([check("a", "success"), status("failure")], '1 FAILED — "ci/external"'),
    "a newer status counts": ([status("failure"), status("success")], "PR #45 is ready to merge."),
}


def test_neither_false_green_nor_false_red(opened):
    """Every kind of report counts as what it is; each of them is about a head of its own."""
    for verdict, (acts, words) in VERDICTS.items():
        opened.stage.commit(f"{verdict}.txt", "more\n", verdict)
        opened.git("push", "-q", "origin", "HEAD")
        for name, fields in acts:
            opened.stage.act(name, **fields)
        assert words in look(opened), verdict


def queued(theatre):
    """Put the pull request into the merge queue; return the queue's commit."""
    theatre.stage.act("rules", merge_queue=True)
    return theatre.stage.control("POST", "act", {"act": "enqueue_pull", "pull": 45, "by": "mona"})["id"]


def test_the_verdict_belongs_to_the_head(opened):
    """A failure of a commit that is no longer the head, or of the merge queue's own commit, is no failure of the head."""
    opened.stage.act("add_check", pull=45, name="unit", conclusion="failure")
    opened.stage.commit("more.txt", "more\n", "More")
    assert opened.stage.command("push").status == 0
    assert "FAILED" not in look(opened)
    opened.stage.act("add_check", pull=45, name="unit", conclusion="success")
    opened.stage.act("add_check", sha=queued(opened), name="optional", conclusion="failure")
    told = look(opened)
    assert "FAILED" not in told
    assert "in the merge queue, at place 1" in told


def test_a_lost_answer_to_a_board_write_is_found(opened):
    """The card was moved and the answer lost: nothing is said to have failed for good, and the next event agrees."""
    opened.edit_claim(status="Todo")
    opened.fault("drop_after_apply", operation="MoveCard")
    opened.hook("on-stop", **AT_ONCE)
    assert opened.card()["Status"] == "Todo"
    assert opened.hook("on-stop", **AT_ONCE).status == 0
    assert opened.stage.claim()["last_synced_status"] == "Todo"
    assert opened.card()["Status"] == "Todo"


def test_a_lost_answer_to_a_push_is_found(theatre):
    """The branch went out and the answer was lost: the same command again opens one pull request for it."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("work.txt", "work\n", "Work")
    theatre.fault("drop_after_apply", path="/octo/demo.git/git-receive-pack")
    theatre.stage.command("handoff", "--summary", "Work")
    assert theatre.stage.command("handoff", "--summary", "Work").status == 0
    assert [pull["head_sha"] for pull in theatre.pulls()] == [theatre.git("rev-parse", "HEAD")]


def through_the_queue(theatre):
    """Merge as the queue does."""
    theatre.stage.act("add_check", sha=queued(theatre), name="unit", conclusion="success")
    theatre.stage.act("merge_pull", pull=45, by="mona")


def by_an_administrator(theatre):
    """Merge although a required check has failed."""
    theatre.stage.act("require_checks", names=["unit"])
    theatre.stage.act("add_check", pull=45, name="unit", conclusion="failure")
    theatre.stage.act("merge_pull", pull=45, by="mona", method="squash")


def with_its_branch_deleted(theatre):
    """Merge and delete the branch on GitHub."""
    theatre.stage.act("merge_pull", pull=45, method="rebase")
    theatre.stage.act("delete_branch", branch=theatre.stage.claim()["branch"])


def in_a_renamed_repository(theatre):
    """Merge after the repository got another name."""
    theatre.stage.act("rename_repository", name="demo-two")
    theatre.stage.act("merge_pull", pull=45, repo="octo/demo-two")


def into_another_branch(theatre):
    """Merge after somebody gave the pull request another base."""
    theatre.stage.act("push_commit", branch="next", path="next.txt", content="next\n")
    theatre.stage.act("retarget_pull", pull=45, base="next")
    theatre.stage.act("merge_pull", pull=45)


WAYS = (through_the_queue, by_an_administrator, with_its_branch_deleted, in_a_renamed_repository, into_another_branch)


@pytest.mark.parametrize("merge", WAYS, ids=lambda way: way.__name__)
def test_a_merge_is_seen_by_the_pull_request(theatre, merge):
    """However it was merged: it is said once, and closing comments once and leaves no claim."""
    theatre.work()
    theatre.hold(phase="ready_for_pr", summary="Work")
    theatre.hook("on-stop")
    merge(theatre)
    assert "PR #45 merged! Should I close issue #42?" in look(theatre)
    assert "merged!" not in look(theatre)
    assert theatre.stage.command("done").status == 0
    assert (theatre.issue()["state"], theatre.stage.claim()) == ("closed", None)
    assert sum("agent-sync" in text for text in theatre.comments()) == 1


def test_work_after_the_merge_is_not_pushed_into_nowhere(opened):
    """A commit that came too late is refused by `push`, and the close leaves it on its branch and says so."""
    opened.stage.act("merge_pull", pull=45, method="squash")
    look(opened)
    opened.stage.commit("late.txt", "late\n", "Late")
    refused = opened.stage.command("push")
    assert refused.status == 1
    assert "PR #45 is merged" in refused.stderr
    late, branch = opened.git("rev-parse", "HEAD"), opened.stage.claim()["branch"]
    assert opened.stage.command("done").status == 0
    assert opened.issue()["state"] == "closed"
    assert opened.git("rev-parse", branch) == late
