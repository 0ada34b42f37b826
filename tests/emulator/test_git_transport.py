import base64
import gzip
import os


def _refs(client):
    return {entry["name"]: entry["sha"] for entry in client.state()["refs"]}


def test_push_and_fetch_round_trip(client, clone):
    """A pushed branch is in the world at once and another clone can fetch it."""
    clone.git("checkout", "--quiet", "-b", "claude/x-42")
    sha = clone.commit()
    clone.git("push", "--quiet", "origin", "claude/x-42")
    assert _refs(client)["refs/heads/claude/x-42"] == sha
    client.act("push_commit", branch="claude/x-42", path="more.txt", content="more\n")
    clone.git("pull", "--quiet", "origin", "claude/x-42")
    assert (clone.path / "more.txt").read_text() == "more\n"


def test_custom_refs_with_an_explicit_lease(client, clone):
    """A ref outside refs/heads works as a lock: created once, then moved only by who knows its value."""
    first, second = clone.commit(content="1\n"), clone.commit(content="2\n")
    name = "refs/agentsync/claims/42"
    clone.git("push", "--quiet", f"--force-with-lease={name}:", "origin", f"{first}:{name}")
    lost = clone.run("push", f"--force-with-lease={name}:", "origin", f"{second}:{name}")
    assert lost.returncode != 0
    assert _refs(client)[name] == first
    clone.git("push", "--quiet", f"--force-with-lease={name}:{first}", "origin", f"{second}:{name}")
    assert clone.git("ls-remote", "origin", name).split()[0] == second


def test_atomic_push_is_all_or_nothing(client, clone):
    """With --atomic one refused ref keeps the other from moving; without it the other moves."""
    clone.git("checkout", "--quiet", "-b", "work")
    sha = clone.commit()
    client.act("refuse_refs", pattern="refs/agentsync/*")
    both = ("origin", "work", f"{sha}:refs/agentsync/claims/42")
    refused = clone.run("push", "--atomic", *both)
    assert refused.returncode != 0
    assert "refs/heads/work" not in _refs(client)
    partly = clone.run("push", *both)
    assert partly.returncode != 0
    assert "GH013: Repository rule violations found for refs/agentsync/claims/42" in partly.stderr
    assert _refs(client).keys() >= {"refs/heads/work"}
    assert "refs/agentsync/claims/42" not in _refs(client)
    client.act("refuse_refs", pattern=None)
    clone.git("push", "--quiet", "--atomic", *both)


def test_refusing_a_plain_prefix_covers_what_lies_below(client, clone):
    """A pattern without a wildcard refuses the name and everything under it, over the interface too."""
    sha = clone.git("rev-parse", "HEAD")
    client.act("refuse_refs", pattern="refs/agentsync")
    assert clone.run("push", "origin", f"{sha}:refs/agentsync/a/b").returncode != 0
    answer = client.post("/repos/octo/demo/git/refs", {"ref": "refs/agentsync/a", "sha": sha})
    assert answer.status_code == 422
    assert "Repository rule violations" in answer.json()["message"]


def test_every_protocol_version(client, clone):
    """Clients of each protocol version can fetch."""
    for version in ("0", "1", "2"):
        sha = client.act("push_commit", branch="other", content=f"{version}\n")["id"]
        clone.git("-c", f"protocol.version={version}", "fetch", "--quiet", "origin", "other")
        assert clone.git("rev-parse", "FETCH_HEAD") == sha, version


def test_large_chunked_push(client, clone):
    """A push too big for one buffer arrives in chunks and complete."""
    (clone.path / "big.bin").write_bytes(os.urandom(1_200_000))
    clone.git("add", "big.bin")
    clone.git("commit", "--quiet", "--message", "Big")
    clone.git("push", "--quiet", "origin", "HEAD:refs/heads/big")
    assert _refs(client)["refs/heads/big"] == clone.git("rev-parse", "HEAD")


def test_compressed_request_bodies(client):
    """A request body that was compressed, as git does with long negotiations, is understood."""
    body = gzip.compress(b"0014command=ls-refs\n0000")
    headers = {
        "content-type": "application/x-git-upload-pack-request",
        "content-encoding": "gzip",
        "git-protocol": "version=2",
    }
    answer = client.call("POST", "/octo/demo.git/git-upload-pack", content=body, headers=headers)
    assert answer.status_code == 200
    assert b"refs/heads/main" in answer.content


def test_who_may_push(client):
    """The token in HTTP Basic decides who pushes and whether they may."""
    for token, status in {"bad-token": 401, "read-only": 403, "as:stranger": 200, "anything": 200}.items():
        pair = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        path = "/octo/demo.git/info/refs?service=git-receive-pack"
        answer = client.call("GET", path, headers={"authorization": f"Basic {pair}"})
        assert answer.status_code == status, token


def test_a_reader_cannot_push_but_can_fetch(client, clone):
    """Someone with the read role is refused, and may still read."""
    client.act("role", user="guest", role="read")
    pair = base64.b64encode(b"x-access-token:as:guest").decode()
    clone.git("config", "http.extraHeader", f"Authorization: Basic {pair}")
    clone.git("fetch", "--quiet", "origin")
    done = clone.run("push", "origin", "HEAD:refs/heads/guest")
    assert done.returncode != 0
    assert "403" in done.stderr


def test_an_archived_repository_refuses_pushes(client, clone):
    """A read-only repository takes no push until it is brought back."""
    client.act("read_only", on=True)
    assert clone.run("push", "origin", "HEAD:refs/heads/late").returncode != 0
    client.act("read_only", on=False)
    clone.git("push", "--quiet", "origin", "HEAD:refs/heads/late")


def test_pull_refs_show_and_cannot_be_pushed(client, clone):
    """The head of a pull request can be fetched under refs/pull, and nobody can push there."""
    number = client.opened_pull()
    name = f"refs/pull/{number}/head"
    assert clone.git("ls-remote", "origin", name).split()[0] == client.pull(number)["head_sha"]
    assert clone.run("push", "origin", f"HEAD:{name}", "--force").returncode != 0


def test_pull_head_follows_its_branch(client, clone):
    """Pushing to the branch of an open pull request moves its head; deleting the branch closes it."""
    number = client.opened_pull("work")
    clone.git("fetch", "--quiet", "origin", "work")
    clone.git("checkout", "--quiet", "-b", "work", "FETCH_HEAD")
    sha = clone.commit("More")
    clone.git("push", "--quiet", "origin", "work")
    assert client.pull(number)["head_sha"] == sha
    clone.git("push", "--quiet", "origin", "--delete", "work")
    assert client.pull(number)["state"] == "closed"
    assert client.pull(number)["merged"] is False


def test_pushing_the_work_into_the_base_counts_as_merged(client, clone):
    """A pull request whose commits reach the base by a push is merged, and its keywords count."""
    number = client.opened_pull("work", body="Fixes #42")
    clone.git("fetch", "--quiet", "origin", "work")
    clone.git("push", "--quiet", "origin", "FETCH_HEAD:refs/heads/main")
    assert client.pull(number)["merged"] is True
    assert client.issue(42)["state"] == "closed"


def test_keywords_in_pushed_commits_close_on_the_default_branch_only(client, clone):
    """A commit message closes an issue when it reaches the default branch, not before."""
    clone.commit("Speed up\n\nresolves: #43")
    clone.git("push", "--quiet", "origin", "HEAD:refs/heads/side")
    assert client.issue(43)["state"] == "open"
    clone.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
    assert client.issue(43)["state"] == "closed"


def test_unknown_repository_is_not_found(client):
    """A repository that does not exist answers 404 to git."""
    assert client.call("GET", "/octo/nope.git/info/refs?service=git-upload-pack").status_code == 404
