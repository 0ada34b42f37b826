from contextlib import ExitStack

import pytest


@pytest.fixture
def repos(server):
    """Return the repository as PyGithub sees it at either address of the interface."""
    from github import Auth, Github

    with ExitStack() as stack:
        hubs = [
            stack.enter_context(
                Github(
                    auth=Auth.Token("any"), base_url=server.url + prefix, lazy=True, per_page=100, retry=None,
                    seconds_between_requests=None, seconds_between_writes=None, timeout=10,
                )
            )
            for prefix in ("", "/api/v3")
        ]  # fmt: skip
        yield [hub.get_repo("octo/demo") for hub in hubs]


@pytest.fixture
def eager(server):
    from github import Auth, Github

    with Github(auth=Auth.Token("any"), base_url=server.url, retry=None, seconds_between_requests=None,
                seconds_between_writes=None, timeout=10) as made:  # fmt: skip
        yield made


def test_lazy_issue_work(client, repos):
    """PyGithub assigns, comments on, labels and closes an issue in one request each."""
    for number, repo in zip((42, 43), repos, strict=True):
        client.http.delete("/_emulator/requests")
        issue = repo.get_issue(number)
        issue.add_to_assignees("mona")
        issue.create_comment("Done")
        issue.add_to_labels("bug")
        issue.edit(state="closed", state_reason="completed")
        assert [entry["operation"] for entry in client.requests()] == [
            "issues/add-assignees", "issues/create-comment", "issues/add-labels", "issues/update",
        ]  # fmt: skip
        assert client.issue(number) == client.issue(number) | {
            "state": "closed", "state_reason": "completed", "assignees": ["mona"], "labels": ["bug"],
        }  # fmt: skip


def test_lazy_pull_work(client, repos):
    """PyGithub opens, reads, checks and merges a pull request."""
    for number, repo in zip((42, 43), repos, strict=True):
        client.act("push_commit", branch=f"work-{number}", path=f"{number}.txt")
        pull = repo.create_pull(base="main", head=f"work-{number}", title="Work", body=f"Closes #{number}", draft=False)
        client.act("add_check", pull=pull.number, name="test", conclusion="success")
        commit = repo.get_commit(pull.head.sha)
        assert [run.conclusion for run in commit.get_check_runs()] == ["success"]
        assert commit.get_combined_status().state == "pending"
        assert repo.get_pull(pull.number).mergeable is True
        assert [file.filename for file in pull.get_files()] == [f"{number}.txt"]
        assert [entry.sha for entry in pull.get_commits()] == [pull.head.sha]
        assert pull.merge(merge_method="squash").merged is True
        assert repo.get_pull(pull.number).merged is True
        assert client.issue(number)["state"] == "closed"


def test_eager_reading(client, eager):
    """PyGithub reads everything it usually reads."""
    client.act("comment", issue=42, body="Hello")
    repo = eager.get_repo("octo/demo")
    assert (repo.default_branch, repo.owner.login) == ("main", "octo")
    assert repo.permissions.push is True
    assert eager.get_user().login == "octo"
    assert eager.get_user("mona").name == "Mona Lisa"
    assert [issue.number for issue in repo.get_issues()] == [43, 42, 41, 40]
    assert [comment.body for comment in repo.get_issue(42).get_comments()] == ["Hello"]
    assert [label.name for label in repo.get_labels()][:1] == ["bug"]
    assert repo.get_branch("main").commit.sha == repo.get_git_ref("heads/main").object.sha
    assert [branch.name for branch in repo.get_branches()] == ["main"]
    assert {user.login for user in repo.get_collaborators()} == {"octo", "mona"}
    assert repo.get_issue(41).get_blocked_by()[0].number == 40
    assert eager.get_rate_limit().resources.core.limit == 5000
    assert "project" in eager.oauth_scopes


def test_contents(client, eager):
    """PyGithub reads files, whatever bytes they hold, and directories."""
    client.act("push_commit", branch="main", path="docs/ä b.txt", content="ünïcode\n")
    repo = eager.get_repo("octo/demo")
    assert repo.get_contents("README.md").decoded_content == b"# demo\n"
    assert [entry.path for entry in repo.get_contents("docs")] == ["docs/ä b.txt"]
    assert repo.get_contents("docs/ä b.txt").decoded_content.decode() == "ünïcode\n"


def test_refs(client, repos):
    """PyGithub creates, moves, lists and deletes refs."""
    first = client.state()["refs"][0]["sha"]
    second = client.act("push_commit", branch="work")["id"]
    for repo in repos:
        ref = repo.create_git_ref("refs/agentsync/claims/42", first)
        ref.edit(second)
        assert [entry.ref for entry in repo.get_git_matching_refs("agentsync/")] == ["refs/agentsync/claims/42"]
        ref.delete()
        assert "refs/agentsync/claims/42" not in {entry["name"] for entry in client.state()["refs"]}


def test_paging(client, repos):
    """PyGithub follows the pages of a long list."""
    client.act("grow_board", items=205)
    for repo in repos:
        client.http.delete("/_emulator/requests")
        assert len(list(repo.get_issues(state="all"))) == 210
        assert len(client.requests()) == 3


def test_refusals_arrive_as_its_exceptions(client, repos):
    """PyGithub raises what it raises for the real one."""
    from github import GithubException, RateLimitExceededException, UnknownObjectException

    client.opened_pull("work")
    for repo in repos:
        with pytest.raises(GithubException) as duplicate:
            repo.create_pull(base="main", head="work", title="Again")
        assert duplicate.value.status == 422
        assert duplicate.value.data["errors"][0]["message"] == "A pull request already exists for octo:work."
        with pytest.raises(UnknownObjectException):
            repo.get_issue(999).complete()
        client.fault("primary_limit")
        with pytest.raises(RateLimitExceededException):
            repo.get_issue(42).create_comment("x")


def test_jobs_and_logs(client, repos):
    """PyGithub finds the job of a failed check, its log's address, and can run it again."""
    for branch, repo in zip(("one", "two"), repos, strict=True):
        number = client.opened_pull(branch, commit={"path": f"{branch}.txt"})
        client.act("add_check", pull=number, name="test", conclusion="failure", log="boom")
        sha = client.pull(number)["head_sha"]
        (run,) = repo.get_workflow_runs(head_sha=sha)
        (job,) = run.jobs()
        assert job.conclusion == "failure"
        assert job.logs_url().endswith("/logs/download")
        assert run.rerun_failed_jobs() is True
        shown = [entry["status"] for entry in client.state()["checks"] if entry["sha"] == sha]
        assert shown == ["completed", "queued"]


def test_updating_an_unchanged_issue_is_free(client, eager):
    """PyGithub's conditional update sees that nothing has changed."""
    issue = eager.get_repo("octo/demo").get_issue(42)
    assert issue.update() is False
    client.act("comment", issue=42, body="News")
    assert issue.update() is True
