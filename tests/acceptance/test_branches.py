"""The branch of a task: where it starts, what it is called, its upstream, and what becomes of it."""

import json
from pathlib import Path

import pytest

BRANCH = "claude/fix-race-condition-in-cache-42"


def head(theatre, ref="HEAD"):
    """Return a commit of the clone."""
    return theatre.git("rev-parse", ref)


def remote_head(theatre, branch):
    """Return a commit of the local GitHub; "" where it has no such branch."""
    return theatre.git("ls-remote", "origin", f"refs/heads/{branch}").partition("\t")[0]


def linked_branches(theatre):
    """Return the branches that the issue's Development panel shows."""
    import httpx

    query = '{repository(owner:"octo",name:"demo"){issue(number:42){linkedBranches(first:9){nodes{ref{name}}}}}}'
    answer = httpx.post(f"{theatre.stage.url}/graphql", json={"query": query}, headers={"Authorization": "bearer x"})
    nodes = answer.json()["data"]["repository"]["issue"]["linkedBranches"]["nodes"]
    return [node["ref"]["name"] for node in nodes]


def merged(theatre, method="squash"):
    """Let there be work on issue 42, held by hand, whose pull request is merged."""
    import httpx

    theatre.work(BRANCH)
    pull = {"title": "Add a lock", "head": BRANCH, "base": "main"}
    httpx.post(
        f"{theatre.stage.url}/repos/octo/demo/pulls", json=pull, headers={"Authorization": "token as:octo"}
    ).raise_for_status()
    theatre.hold(phase="pr_created", branch=BRANCH, pr_number=45)
    theatre.stage.act("merge_pull", pull=45, method=method)


def test_claim_starts_from_the_server_as_it_is_now(theatre):
    """What others have pushed since the last fetch is below the new branch; nothing is made on the server."""
    theatre.stage.act("push_commit", branch="main", path="new.txt", content="new\n")
    played = theatre.stage.command("claim", "42")
    assert (played.status, played.stderr, head(theatre)) == (0, "", remote_head(theatre, "main"))
    assert (linked_branches(theatre), remote_head(theatre, BRANCH)) == ([], "")


def test_settings_say_where_a_branch_starts_and_its_name(theatre):
    """A task starts from the branch it is to be merged into, and is called what the pattern makes of it."""
    theatre.git("push", "-q", "origin", "main:develop")
    theatre.stage.act("push_commit", branch="develop", path="new.txt", content="new\n")
    theatre.hook("claim", "42", AGENT_SYNC_PR_BASE="develop", AGENT_SYNC_GIT_BRANCH="bot/{issue}/{slug}")
    assert head(theatre) == remote_head(theatre, "develop")
    assert theatre.git("branch", "--show-current") == "bot/42/fix-race-condition-in-cache"


def test_unreachable_remote_is_a_warning(theatre):
    """Without the server the work starts from what is here, and a warning says so."""
    theatre.fault("status:502", times=100, path="/octo/demo.git/")
    played = theatre.stage.command("claim", "42", "--local")
    assert "the work starts from main as this clone has it: origin could not be asked" in played.stderr, played.stderr
    assert theatre.git("branch", "--show-current") == BRANCH


def test_old_branch_is_announced_and_not_used(theatre):
    """A branch of an earlier round is left alone, with how far it is behind, and the way to go on with it."""
    merged(theatre)
    theatre.git("switch", "-q", BRANCH)
    theatre.stage.command("done", "--yes", "--later")
    theatre.stage.commit("later.txt", "x\n", "Never merged")
    theatre.stage.command("sync")
    old = head(theatre, BRANCH)
    theatre.stage.act("reopen_issue", issue=42)
    played = theatre.stage.command("claim", "42")
    assert (played.status, theatre.git("branch", "--show-current")) == (0, f"{BRANCH}-2"), played.stderr
    assert f"branch {BRANCH} is from earlier (1 behind, 2 ahead of origin/main) and was not used" in played.stderr
    assert f"--branch {BRANCH}" in played.stderr
    assert (head(theatre), head(theatre, BRANCH)) == (remote_head(theatre, "main"), old)
    assert theatre.stage.claim()["branch"] == f"{BRANCH}-2"


def test_old_branch_is_continued_where_it_is_asked_for(theatre):
    """With `--branch` the work goes on, and how far it is behind is said."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("work.txt", "work\n", "Add a lock")
    theatre.stage.command("release")
    theatre.stage.act("push_commit", branch="main", path="new.txt", content="new\n")
    played = theatre.stage.command("claim", "42", "--branch", BRANCH)
    assert theatre.git("log", "-1", "--format=%s") == "Add a lock"
    assert f"branch {BRANCH} is continued (1 behind, 1 ahead of origin/main)" in played.stderr


def test_branch_without_work_starts_again(theatre):
    """A branch that was never worked on is brought to the base and keeps its name, in a second worktree too."""
    theatre.stage.command("claim", "42")
    theatre.stage.command("release")
    theatre.stage.act("push_commit", branch="main", path="new.txt", content="new\n")
    played = theatre.stage.command("claim", "42")
    assert f"branch {BRANCH} had no commits of its own and was 1 behind: it starts again" in played.stderr
    assert (theatre.git("branch", "--show-current"), head(theatre)) == (BRANCH, remote_head(theatre, "main"))
    theatre.stage.command("release")
    theatre.git("switch", "-q", "main")
    theatre.stage.act("push_commit", branch="main", path="newer.txt", content="new\n")
    root = json.loads(theatre.stage.command("claim", "42", "--worktree", "--json").stdout)["root"]
    assert theatre.git("-C", root, "rev-parse", "HEAD") == remote_head(theatre, "main")


def test_own_unfinished_work_goes_on(theatre):
    """Whoever has lost the claim file goes on with the very same branch."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("work.txt", "work\n", "Add a lock")
    (theatre.stage.root / ".agent-claim.json").unlink()
    theatre.git("switch", "-q", "main")
    theatre.stage.command("claim", "42")
    assert (theatre.git("branch", "--show-current"), theatre.git("log", "-1", "--format=%s")) == (BRANCH, "Add a lock")


def test_pattern_is_checked(theatre):
    """A pattern that git would not take, or that names one branch for all, is refused by name."""
    for pattern in ("main", "x-{number}-{issue}", "-{issue}", "a..b{issue}", "a b{issue}", "{issue}.lock"):
        played = theatre.hook("claim", "42", AGENT_SYNC_GIT_BRANCH=pattern)
        assert (played.status != 0, "git.branch" in played.stderr) == (True, True), (pattern, played.stderr)
        assert theatre.stage.claim() is None, pattern


def test_first_push_sets_the_upstream(theatre):
    """After the handoff a plain `git push` and `git pull` work."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("work.txt", "work\n", "Add a lock")
    theatre.stage.command("push")
    assert theatre.git("rev-parse", "--abbrev-ref", "@{u}") == f"origin/{BRANCH}"
    theatre.stage.commit("more.txt", "more\n", "More")
    theatre.git("push", "-q")
    assert remote_head(theatre, BRANCH) == head(theatre)


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_worktree_returns_to_the_base(theatre, method):
    """After the close the worktree is on the base, which has the work, and the branch is gone here but not there."""
    merged(theatre, method)
    played = theatre.stage.command("done")
    assert f'Branch "{BRANCH}" is merged and was deleted here; the worktree is at "main".' in played.stdout
    assert (theatre.git("branch", "--show-current"), theatre.git("branch", "--list", BRANCH)) == ("main", "")
    assert (theatre.stage.root / "work.txt").exists()
    assert remote_head(theatre, BRANCH) != ""


def test_branch_is_deleted_on_the_server_by_setting(theatre):
    """A setting of the user's deletes it there too; one that GitHub has deleted itself is no trouble."""
    merged(theatre)
    played = theatre.hook("done", AGENT_SYNC_GIT_DELETE_BRANCH="true", stdin="")
    assert ("It was deleted on origin too." in played.stdout, remote_head(theatre, BRANCH)) == (True, "")


def test_linked_worktree_detaches(theatre):
    """A linked worktree cannot have the base that is checked out elsewhere: it detaches there."""
    root = json.loads(theatre.stage.command("claim", "42", "--worktree", "--json").stdout)["root"]
    beside = type(theatre)(
        type(theatre.stage)(theatre.stage.url, Path(root), theatre.stage.environment, theatre.stage.client)
    )
    beside.stage.commit("work.txt", "work\n", "Add a lock")
    beside.stage.command("handoff")
    beside.stage.act("merge_pull", pull=45, method="squash")
    beside.stage.command("done")
    assert (beside.git("branch", "--show-current"), beside.git("branch", "--list", BRANCH)) == ("", "")
    assert head(beside) == remote_head(theatre, "main")


def test_branch_with_more_work_is_kept(theatre):
    """Commits that the pull request does not have, and files that are not committed, keep the branch; that is said."""
    merged(theatre)
    (theatre.stage.root / "draft.txt").write_text("x")
    theatre.stage.command("done", "--later")
    played = theatre.stage.command("sync")
    assert f'Branch "{BRANCH}" was kept: there are uncommitted changes.' in played.stdout
    assert theatre.git("branch", "--show-current") == BRANCH


def test_branch_that_went_on_is_kept(theatre):
    """A commit after the merge keeps the branch."""
    merged(theatre)
    theatre.stage.commit("more.txt", "x\n", "More")
    played = theatre.stage.command("done")
    assert "was kept: it is at" in played.stdout
    assert theatre.git("branch", "--show-current") == BRANCH


def test_branch_is_linked_by_setting(theatre):
    """With the setting the issue's Development panel shows the branch, in one request more."""
    theatre.hook("claim", "42", AGENT_SYNC_GIT_LINK_BRANCH="true")
    assert linked_branches(theatre) == [BRANCH]
    assert theatre.operations()[:3] == ["Task", "ClaimTask", "LinkBranch"]
    theatre.stage.commit("work.txt", "work\n", "Add a lock")
    assert theatre.stage.command("handoff").status == 0
    assert theatre.pulls()[0]["head"] == BRANCH


def test_link_that_is_refused_is_no_trouble(theatre):
    """Where GitHub does not link it, the claim stands and nothing is said."""
    theatre.fault("status:403", operation="LinkBranch")
    played = theatre.hook("claim", "42", AGENT_SYNC_GIT_LINK_BRANCH="true", stdin="")
    assert (played.status, played.stderr) == (0, "")
