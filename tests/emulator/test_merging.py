REPO = "/repos/octo/demo"


def _messages(client, branch="main"):
    return [entry["commit"]["message"] for entry in client.read(f"{REPO}/commits?sha={branch}")]


def _two_commits(client):
    client.act("push_commit", branch="work", path="one.txt", content="1\n", message="Add one")
    return client.opened_pull("work", commit={"path": "two.txt", "message": "Add two"}, title="Both")


def test_merge_keeps_the_commits_and_adds_one(client):
    """A merge commit has both sides as parents and GitHub's message."""
    number = _two_commits(client)
    head = client.pull(number)["head_sha"]
    answer = client.call("PUT", f"{REPO}/pulls/{number}/merge", json={})
    assert answer.json()["merged"] is True
    tip = client.read(f"{REPO}/commits/main")
    assert tip["sha"] == answer.json()["sha"]
    assert tip["parents"][1]["sha"] == head
    assert tip["commit"]["message"] == f"Merge pull request #{number} from octo/work\n\nBoth"


def test_squash_makes_one_commit(client):
    """A squash puts one commit with the title and number on the base."""
    number = _two_commits(client)
    client.act("merge_pull", pull=number, method="squash")
    assert _messages(client) == [f"Both (#{number})\n\n* Add one\n\n* Add two", "Initial commit"]
    files = {entry["filename"] for entry in client.read(f"{REPO}/commits/main")["files"]}
    assert files == {"one.txt", "two.txt"}


def test_rebase_replays_each_commit(client):
    """A rebase replays the commits on a base that has moved on, keeping their messages."""
    number = _two_commits(client)
    client.act("push_commit", branch="main", path="other.txt", message="Meanwhile")
    client.act("merge_pull", pull=number, method="rebase")
    assert _messages(client) == ["Add two", "Add one", "Meanwhile", "Initial commit"]
    assert client.pull(number)["merged"] is True


def test_merged_pull_as_rest_shows_it(client):
    """A merged pull request is closed, merged, and names its commit and who merged it."""
    number = client.opened_pull()
    client.act("merge_pull", pull=number, by="mona")
    shown = client.read(f"{REPO}/pulls/{number}")
    assert (shown["state"], shown["merged"], shown["merged_by"]["login"]) == ("closed", True, "mona")
    assert shown["merge_commit_sha"] == client.read(f"{REPO}/commits/main")["sha"]
    assert client.call("GET", f"{REPO}/pulls/{number}/merge").status_code == 204


def test_closing_keywords(client):
    """Only GitHub's keywords, for an issue of this repository, close on merge."""
    bodies = {
        "Refs #42": False,
        "Closes other/place#42": False,
        "closes#42": False,
        "Closes #421": False,
        "Closes #42": True,
        "this FIXES: #42.": True,
        "resolved octo/demo#42": True,
    }
    for place, (body, closes) in enumerate(bodies.items()):
        number = client.opened_pull(f"work{place}", body=body, commit={"path": f"{place}.txt"})
        client.act("merge_pull", pull=number)
        assert (client.issue(42)["state"] == "closed") is closes, body
        if closes:
            client.act("reopen_issue", issue=42)


def test_keywords_do_not_count_for_other_branches(client):
    """Merging into a branch that is not the default closes nothing."""
    client.act("push_commit", branch="release", path="r.txt")
    number = client.opened_pull(body="Closes #42", base="release")
    client.act("merge_pull", pull=number)
    assert client.pull(number)["merged"] is True
    assert client.issue(42)["state"] == "open"


def test_conflicts_are_found_by_git(client):
    """A pull request that conflicts is not mergeable, and mergeable again once settled."""
    number = client.opened_pull(commit={"path": "README.md", "content": "ours\n"})
    assert client.read(f"{REPO}/pulls/{number}")["mergeable"] is True
    client.act("push_commit", branch="main", path="README.md", content="theirs\n")
    shown = client.read(f"{REPO}/pulls/{number}")
    assert (shown["mergeable"], shown["mergeable_state"]) == (False, "dirty")
    answer = client.call("PUT", f"{REPO}/pulls/{number}/merge", json={})
    assert (answer.status_code, answer.json()["message"]) == (405, "Pull Request is not mergeable")
    client.act("push_commit", branch="work", path="README.md", content="theirs\n")
    assert client.pull(number)["merged"] is False


def test_merge_refusals(client):
    """A changed head, a draft, a missing required check and an unknown method are refused."""
    number = client.opened_pull(draft=True)
    merge = f"{REPO}/pulls/{number}/merge"
    assert client.call("PUT", merge, json={}).json()["message"] == "Pull Request is still a draft"
    client.act("ready_pull", pull=number)
    assert client.call("PUT", merge, json={"sha": "0" * 40}).status_code == 409
    assert client.call("PUT", merge, json={"merge_method": "octopus"}).status_code == 422
    client.act("add_check", pull=number, name="test", status="in_progress", required=True)
    refused = client.call("PUT", merge, json={})
    assert (refused.status_code, refused.json()["message"]) == (
        405,
        'Required status check "test" is expected.',
    )
    client.act("complete_check", pull=number, name="test", conclusion="skipped")
    assert client.call("PUT", merge, json={}).status_code == 200
    assert client.call("PUT", merge, json={}).status_code == 405


def test_an_act_overrules_required_checks(client):
    """The act of merging is that of someone who may overrule what is required."""
    number = client.opened_pull()
    client.act("add_check", pull=number, name="test", conclusion="failure", required=True)
    client.act("merge_pull", pull=number)
    assert client.pull(number)["merged"] is True


def test_other_pulls_see_the_base_move(client):
    """Merging one pull request leaves another open and compared with the new base."""
    first = client.opened_pull("one", commit={"path": "one.txt"})
    second = client.opened_pull("two", commit={"path": "two.txt"})
    client.act("merge_pull", pull=first)
    shown = client.read(f"{REPO}/pulls/{second}")
    assert shown["state"] == "open"
    assert shown["base"]["sha"] == client.read(f"{REPO}/commits/main")["sha"]
    assert shown["mergeable"] is True
