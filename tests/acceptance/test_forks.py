"""Work from a fork, from claim to close: issues, board and claims of the parent, branches and pull requests from the fork."""

import subprocess
from dataclasses import replace

import pytest
from support.clones import CLAIM_REF, ref, told, with_variables
from support.stage import Theatre

FORK = "mona/demo"


def forked(theatre, name="mine", *, upstream=True, noted=True, **variables):
    """Clone mona's fork, as `gh repo clone` or plain git leaves it."""
    theatre.stage.act("fork", by="mona")
    stage = theatre.stage
    home, root = stage.root.parent / f"home-{name}", stage.root.parent / name
    home.mkdir()
    environment = stage.environment | {"HOME": str(home), "GH_TOKEN": "as:mona"}
    subprocess.run(
        ["git", "clone", "-q", f"{stage.url}/{FORK}.git", str(root)], env=environment | variables, check=True
    )
    # From here on git says who pushes.
    stage.act("git_credentials", required=True)
    found = Theatre(replace(stage, root=root, environment=environment | variables))
    if upstream:
        found.git("remote", "add", "upstream", f"{stage.url}/octo/demo.git")
    if upstream and noted:
        found.git("config", "remote.upstream.gh-resolved", "base")
    return found


@pytest.fixture
def strict(theatre):
    """Return the parent's clone of somebody who may write there."""
    return with_variables(theatre, GH_TOKEN="as:octo")


def heads(theatre, repository):
    """Return the branches of a repository."""
    refs = theatre.stage.world()["refs"]
    return {
        one["name"].removeprefix("refs/heads/")
        for one in refs
        if one["repo"] == repository and "/heads/" in one["name"]
    }


def brought_to_close(mine):
    """Commit, hand off, merge, agree and sync; return what was said of the close."""
    branch = mine.stage.claim()["branch"]
    mine.stage.commit("work.txt", "work\n", "Work")
    handed = mine.stage.command("handoff", "--summary", "Fix the race")
    assert handed.status == 0, told(handed)
    pull = mine.pulls()[-1]
    assert (pull["repo"], pull["head"], mine.stage.claim()["pr_number"]) == ("octo/demo", branch, pull["number"])
    assert branch in heads(mine, FORK)
    assert branch not in heads(mine, "octo/demo")
    mine.stage.act("add_check", pull=pull["number"], name="lint", status="completed", conclusion="success")
    assert "passed" in told(mine.stage.command("sync")).lower()
    mine.stage.act("merge_pull", pull=pull["number"])
    assert "merged" in told(mine.stage.command("sync"))
    done = mine.stage.command("done")
    assert (done.status, mine.stage.claim()) == (0, None), told(done)
    return told(done), branch


def proposed(theatre, head, *, token):
    """Open a pull request as a person would, and return its number."""
    import httpx

    body = {"title": "Work", "head": head, "base": "main"}
    headers = {"authorization": f"Bearer {token}"}
    answer = httpx.post(
        f"{theatre.stage.url}/api/v3/repos/octo/demo/pulls", json=body, headers=headers, trust_env=False
    )
    return answer.raise_for_status().json()["number"]


def test_writer_takes_a_task_to_its_close_from_a_fork(strict):
    """With write access the lease is a ref of the parent, which others lose against; the branch is only in the fork."""
    strict.stage.act("role", user="mona", role="write")
    mine = forked(strict, AGENT_SYNC_GIT_DELETE_BRANCH="true")
    assert "#42" in mine.stage.command("next").stdout
    played = mine.stage.command("claim", "42")
    assert (played.status, "holds for everyone who uses upstream" in played.stdout) == (0, True), told(played)
    assert ref(strict) is not None
    assert strict.stage.command("claim", "42").status == 3
    assert (mine.issue()["assignees"], mine.card()["Status"]) == (["mona"], "In Progress")
    said, branch = brought_to_close(mine)
    assert "Issue #42 closed" in said
    assert (mine.issue()["state"], mine.card()["Status"]) == ("closed", "Done")
    assert branch not in heads(mine, FORK)
    assert mine.git("branch", "--show-current") == "main"
    assert mine.git("rev-parse", "HEAD") == mine.git("rev-parse", "upstream/main")


def test_reader_needs_a_word_and_then_works_to_the_close(strict):
    """Without write access the claim is refused with the command for this clone only; the close is left to others.

    The doctor names the fork and what may be written where, and tells what to do about claims.
    """
    strict.stage.act("role", user="mona", role="read")
    mine = forked(strict)
    shown = mine.stage.command("doctor").stdout
    wanted = (
        "octo/demo on",
        "from remote upstream",
        "branches go to mona/demo",
        "git may push to mona/demo",
        "--local",
    )
    assert [word for word in wanted if word not in " ".join(shown.split())] == [], shown
    refused = mine.stage.command("claim", "42")
    assert (refused.status, "agent-sync claim 42 --local" in refused.stderr) == (1, True), told(refused)
    assert (ref(strict), mine.stage.claim()) == (None, None)
    played = mine.stage.command("claim", "42", "--local")
    assert played.status == 0, told(played)
    assert "you may only read octo/demo" in played.stderr
    said, _ = brought_to_close(mine)
    assert "Issue #42 stays open" in said
    assert mine.issue()["state"] == "open"
    assert "Completed in" in mine.comments()[-1]


def test_reader_whose_settings_say_so_needs_no_option(strict):
    """`lease.where = "clone"` is the same word, given once."""
    strict.stage.act("role", user="mona", role="read")
    mine = forked(strict, AGENT_SYNC_LEASE_WHERE="clone")
    assert mine.stage.command("claim", "42").status == 0


def test_plain_clone_of_a_fork_gets_its_parent_as_a_remote(strict):
    """Where git knows the fork alone, the claim adds the parent as gh does, and says so; other commands name it."""
    strict.stage.act("role", user="mona", role="write")
    mine = forked(strict, upstream=False)
    listed = mine.stage.command("next")
    assert (listed.status, "gh repo set-default octo/demo" in listed.stderr) == (6, True), told(listed)
    assert "fork of octo/demo" in mine.stage.command("doctor").stdout
    played = mine.stage.command("claim", "42")
    assert played.status == 0, told(played)
    assert "mona/demo is a fork" in played.stderr
    assert mine.git("remote", "get-url", "upstream").endswith("/octo/demo.git")
    assert mine.git("config", "remote.upstream.gh-resolved") == "base"
    assert ref(strict, CLAIM_REF) is not None


@pytest.mark.parametrize("where", ["hand-made upstream", "github.repository", "set-default", "push address"])
def test_every_way_to_name_the_parent_works(strict, where):
    """A remote without gh's note, the setting, gh's note of a name, and a push address all lead to the same claim."""
    strict.stage.act("role", user="mona", role="write")
    named = {"AGENT_SYNC_GITHUB_REPOSITORY": "octo/demo"} if where == "github.repository" else {}
    mine = forked(strict, upstream=where == "hand-made upstream", noted=False, **named)
    url = mine.git("remote", "get-url", "origin")
    if where == "set-default":
        mine.git("config", "remote.origin.gh-resolved", "octo/demo")
    if where == "push address":
        mine.git("remote", "set-url", "origin", url.replace(FORK, "octo/demo"))
        mine.git("remote", "set-url", "--push", "origin", url)
    played = mine.stage.command("claim", "42")
    assert played.status == 0, told(played)
    assert ref(strict) is not None
    mine.stage.commit("work.txt", "work\n", "Work")
    assert mine.stage.command("handoff", "--summary", "Fix").status == 0
    assert [pull["repo"] for pull in mine.pulls()[-1:]] == ["octo/demo"]
    assert mine.stage.claim()["branch"] in heads(mine, FORK)


def test_pull_request_of_the_fork_is_adopted_and_that_of_another_is_not(strict):
    """An open pull request from the fork's branch is taken over; a branch of that name elsewhere is somebody else's."""
    strict.stage.act("role", user="mona", role="write")
    mine = forked(strict)
    assert mine.stage.command("claim", "42").status == 0
    branch = mine.stage.claim()["branch"]
    strict.stage.act("push_commit", branch=branch, path="theirs.txt", content="x\n")
    theirs = proposed(strict, branch, token="as:octo")
    mine.stage.commit("work.txt", "work\n", "Work")
    assert mine.stage.command("push").status == 0
    own = proposed(mine, f"mona:{branch}", token="as:mona")
    handed = mine.stage.command("handoff", "--summary", "Fix")
    assert handed.status == 0, told(handed)
    assert mine.stage.claim()["pr_number"] == own != theirs


def test_lost_claim_keeps_the_branch_from_the_fork(strict):
    """The lease is asked before the branch goes to the fork: whoever lost it cannot push."""
    strict.stage.act("role", user="mona", role="write")
    mine = forked(strict)
    assert mine.stage.command("claim", "42").status == 0
    assert strict.stage.command("release", "42", "--force").status == 0
    mine.stage.commit("work.txt", "work\n", "Work")
    branch = mine.stage.claim()["branch"]
    assert strict.stage.command("claim", "42").status == 0
    assert mine.stage.command("push").status != 0
    assert branch not in heads(mine, FORK)
