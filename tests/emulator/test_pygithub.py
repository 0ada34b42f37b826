import pytest


@pytest.fixture(params=["", "/api/v3"])
def hub(request, server):
    from github import Auth, Github

    with Github(
        auth=Auth.Token("any"), base_url=server.url + request.param, lazy=True, per_page=100, retry=None,
        seconds_between_requests=None, seconds_between_writes=None, timeout=10,
    ) as made:  # fmt: skip
        yield made


@pytest.fixture
def eager(server):
    from github import Auth, Github

    with Github(auth=Auth.Token("any"), base_url=server.url, retry=None, seconds_between_requests=None,
                seconds_between_writes=None, timeout=10) as made:  # fmt: skip
        yield made


def test_lazy_issue_work(client, hub):
    """PyGithub assigns, comments on, labels and closes an issue in one request each."""
    issue = hub.get_repo("octo/demo").get_issue(42)
    issue.add_to_assignees("mona")
    issue.create_comment("Done")
    issue.add_to_labels("bug")
    issue.edit(state="closed", state_reason="completed")
    assert [entry["operation"] for entry in client.requests()] == [
        "issues/add-assignees", "issues/create-comment", "issues/add-labels", "issues/update",
    ]  # fmt: skip
    assert client.issue(42) == client.issue(42) | {
        "state": "closed", "state_reason": "completed", "assignees": ["mona"], "labels": ["bug"],
    }  # fmt: skip


def test_lazy_pull_work(client, hub):
    """PyGithub opens, reads, checks and merges a pull request."""
    client.act("push_commit", branch="work")
    repo = hub.get_repo("octo/demo")
    pull = repo.create_pull(base="main", head="work", title="Work", body="Closes #42", draft=False)
    client.act("add_check", pull=pull.number, name="test", conclusion="success")
    commit = repo.get_commit(pull.head.sha)
    assert [run.conclusion for run in commit.get_check_runs()] == ["success"]
    assert commit.get_combined_status().state == "pending"
    assert repo.get_pull(pull.number).mergeable is True
    assert [file.filename for file in pull.get_files()] == ["CHANGES.md"]
    assert [entry.sha for entry in pull.get_commits()] == [pull.head.sha]
    assert pull.merge(merge_method="squash").merged is True
    assert repo.get_pull(pull.number).merged is True
    assert client.issue(42)["state"] == "closed"


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


def test_refs(client, hub):
    """PyGithub creates, moves, lists and deletes refs."""
    first = client.state()["refs"][0]["sha"]
    second = client.act("push_commit", branch="work")["id"]
    repo = hub.get_repo("octo/demo")
    ref = repo.create_git_ref("refs/agentsync/claims/42", first)
    ref.edit(second)
    assert [entry.ref for entry in repo.get_git_matching_refs("agentsync/")] == ["refs/agentsync/claims/42"]
    ref.delete()
    assert "refs/agentsync/claims/42" not in {entry["name"] for entry in client.state()["refs"]}


def test_paging(client, hub):
    """PyGithub follows the pages of a long list."""
    client.act("grow_board", items=205)
    client.http.delete("/_emulator/requests")
    assert len(list(hub.get_repo("octo/demo").get_issues(state="all"))) == 210
    assert len(client.requests()) == 3


def test_refusals_arrive_as_its_exceptions(client, hub):
    """PyGithub raises what it raises for the real one."""
    from github import GithubException, RateLimitExceededException, UnknownObjectException

    client.opened_pull("work")
    repo = hub.get_repo("octo/demo")
    with pytest.raises(GithubException) as duplicate:
        repo.create_pull(base="main", head="work", title="Again")
    assert duplicate.value.status == 422
    assert duplicate.value.data["errors"][0]["message"] == "A pull request already exists for octo:work."
    with pytest.raises(UnknownObjectException):
        repo.get_issue(999).complete()
    client.fault("primary_limit")
    with pytest.raises(RateLimitExceededException):
        repo.get_issue(42).create_comment("x")


def test_jobs_and_logs(client, hub):
    """PyGithub finds the job of a failed check, its log's address, and can run it again."""
    number = client.opened_pull()
    client.act("add_check", pull=number, name="test", conclusion="failure", log="boom")
    repo = hub.get_repo("octo/demo")
    (run,) = repo.get_workflow_runs()
    (job,) = run.jobs()
    assert job.conclusion == "failure"
    assert job.logs_url().endswith("/logs/download")
    assert run.rerun_failed_jobs() is True
    assert [entry["status"] for entry in client.state()["checks"]] == ["completed", "queued"]


def test_updating_an_unchanged_issue_is_free(client, eager):
    """PyGithub's conditional update sees that nothing has changed."""
    issue = eager.get_repo("octo/demo").get_issue(42)
    assert issue.update() is False
    client.act("comment", issue=42, body="News")
    assert issue.update() is True
