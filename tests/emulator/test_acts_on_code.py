import pytest

REPO = "/repos/octo/demo"


def test_checks_are_added_and_completed(client):
    """A check is queued, then completed, and a required one counts as such."""
    number = client.opened_pull()
    client.act("add_check", pull=number, name="test", status="in_progress", required=True)
    (check,) = client.state()["checks"]
    assert check == {
        "repo": "octo/demo",
        "sha": client.pull(number)["head_sha"],
        "name": "test",
        "status": "in_progress",
        "conclusion": None,
    }
    assert client.read(f"{REPO}/pulls/{number}")["mergeable_state"] == "blocked"
    client.act("complete_check", pull=number, name="test", conclusion="success")
    assert client.state()["checks"][0]["conclusion"] == "success"
    assert client.read(f"{REPO}/pulls/{number}")["mergeable_state"] == "clean"


def test_checks_by_sha_and_their_log(client):
    """A check on any commit has a job of the same number with the log it was given."""
    sha = client.act("push_commit", branch="work")["id"]
    made = client.act("add_check", sha=sha, name="lint", conclusion="failure", log="line one\nline two")
    log = client.call("GET", f"{REPO}/actions/jobs/{made['id']}/logs", follow_redirects=True).text
    assert [line.split(" ", 1)[1] for line in log.splitlines()] == ["line one", "line two"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": "a", "status": "half"}, "status must be one of"),
        ({"name": "a", "conclusion": "fine"}, "conclusion must be one of"),
        ({"name": "a", "status": "completed"}, "missing_field"),
        ({}, "'name' must be text"),
    ],
)
def test_impossible_checks(client, fields, reason):
    """A check GitHub would refuse is refused here with the reason."""
    assert reason in client.refused_act("add_check", pull=client.opened_pull(), **fields)


def test_completing_an_unknown_check(client):
    """Only a check that was reported can be completed."""
    assert "no check 'x'" in client.refused_act("complete_check", pull=client.opened_pull(), name="x")


def test_statuses_show_in_the_combined_status(client):
    """The newest status of each context counts; without any the state is pending."""
    number = client.opened_pull()
    sha = client.pull(number)["head_sha"]
    assert client.read(f"{REPO}/commits/{sha}/status")["state"] == "pending"
    client.act("add_status", pull=number, context="ci", state="failure")
    assert client.read(f"{REPO}/commits/{sha}/status")["state"] == "failure"
    client.act("add_status", pull=number, context="ci", state="success")
    assert client.read(f"{REPO}/commits/{sha}/status")["state"] == "success"
    assert "state is not included" in client.refused_act("add_status", pull=number, context="ci", state="ok")


def test_pull_goes_through_its_states(client):
    """A pull request can be closed, reopened, made a draft, made ready and retargeted."""
    number = client.opened_pull()
    client.act("push_commit", branch="next", path="n.txt")
    client.act("close_pull", pull=number)
    assert client.pull(number)["state"] == "closed"
    client.act("reopen_pull", pull=number)
    assert client.pull(number)["state"] == "open"
    client.act("draft_pull", pull=number)
    assert client.pull(number)["draft"] is True
    assert "draft" in client.refused_act("merge_pull", pull=number)
    client.act("ready_pull", pull=number)
    assert client.pull(number)["draft"] is False
    client.act("retarget_pull", pull=number, base="next")
    assert client.pull(number)["base"] == "next"
    assert "'nope' was not found" in client.refused_act("retarget_pull", pull=number, base="nope")


def test_reopening_needs_the_branch(client):
    """A pull request whose branch is gone stays closed, and a merged one too."""
    number = client.opened_pull()
    client.act("delete_branch", branch="work")
    assert client.pull(number)["state"] == "closed"
    assert "branch has been deleted" in client.refused_act("reopen_pull", pull=number)
    merged = client.opened_pull("second", commit={"path": "s.txt"})
    client.act("merge_pull", pull=merged)
    assert "cannot be reopened" in client.refused_act("reopen_pull", pull=merged)


def test_push_commit_starts_a_branch_and_moves_it(client):
    """The first commit to a new branch starts from the default branch."""
    first = client.act("push_commit", branch="fresh", path="a/b.txt", content="1\n")["id"]
    second = client.act("push_commit", branch="fresh", path="a/b.txt", content="2\n")["id"]
    compared = client.read(f"{REPO}/compare/main...fresh")
    assert [entry["sha"] for entry in compared["commits"]] == [first, second]
    assert compared["status"] == "ahead"
    assert [entry["filename"] for entry in compared["files"]] == ["a/b.txt"]


def test_the_default_branch_cannot_be_deleted(client):
    """Deleting the default branch or an unknown one is refused."""
    assert "default branch" in client.refused_act("delete_branch", branch="main")
    assert "does not exist" in client.refused_act("delete_branch", branch="nope")


def test_reviews_with_threads(client):
    """A review has a state, a body and threads, whatever case its state is written in."""
    number = client.opened_pull()
    threads = [{"path": "work.txt", "line": 1, "body": "Why?"}]
    client.act("review", pull=number, state="changes_requested", body="Not yet", threads=threads)
    client.act("review", pull=number, state="APPROVED", by="mona")
    shown = client.read(f"{REPO}/pulls/{number}/reviews")
    assert [(e["user"]["login"], e["state"]) for e in shown] == [
        ("octo", "CHANGES_REQUESTED"),
        ("mona", "APPROVED"),
    ]
    (comment,) = client.read(f"{REPO}/pulls/{number}/comments")
    assert (comment["path"], comment["line"], comment["body"]) == ("work.txt", 1, "Why?")
    assert "unknown review state" in client.refused_act("review", pull=number, state="meh")
    assert "path, line and body" in client.refused_act("review", pull=number, state="approved", threads=[{}])


def test_acts_are_done_by_someone(client):
    """`by` names who acts; a stranger becomes a collaborator on first use."""
    client.act("comment", issue=42, body="Hi", by="zoe")
    assert client.state()["comments"][0]["by"] == "zoe"
    assert client.call("GET", f"{REPO}/collaborators/zoe").status_code == 204


def test_acts_on_unknown_things(client):
    """An act on a repository, pull request or issue that does not exist says so."""
    assert "octo/nope" in client.refused_act("comment", issue=42, body="x", repo="octo/nope")
    assert "PullRequest with the number of 42" in client.refused_act("merge_pull", pull=42)
    assert "Issue with the number of 999" in client.refused_act("close_issue", issue=999)
    assert "whole number" in client.refused_act("close_issue", issue="42")
