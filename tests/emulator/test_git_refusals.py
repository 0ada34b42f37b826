"""Git that has to sign in, and pushes that rules, policies and proxies refuse."""

import time

ANYONE = "any"


def _refs(client):
    return {entry["name"]: entry["sha"] for entry in client.state()["refs"]}


def signed_in(server, token=ANYONE):
    """Return the address of the repository with a token as password."""
    return f"{server.url.replace('://', f'://x-access-token:{token}@')}/octo/demo.git"


def test_git_has_to_sign_in(client, clone, server):
    """Without credentials git is asked for some, and fails where nobody can type them; then the role decides."""
    sha = clone.commit()
    client.act("git_credentials", required=True)
    for command in (("push", "origin", "HEAD:refs/heads/work"), ("fetch", "origin")):
        refused = clone.run(*command)
        assert refused.returncode != 0
        assert "could not read Username" in refused.stderr
    answer = client.http.get("/octo/demo.git/info/refs?service=git-receive-pack")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Basic realm="GitHub"')
    clone.git("push", "--quiet", signed_in(server), "HEAD:refs/heads/work")
    assert _refs(client)["refs/heads/work"] == sha
    wrong = clone.run("push", signed_in(server, "bad-token"), "HEAD:refs/heads/work")
    assert "Invalid username or token." in wrong.stderr
    client.act("git_credentials", required=False)
    clone.git("fetch", "--quiet", "origin")
    # A public repository can be fetched by anyone while pushing needs credentials.
    client.act("git_credentials", required=True, fetch=False)
    clone.git("fetch", "--quiet", "origin")
    assert "could not read Username" in clone.run("push", "origin", "HEAD:refs/heads/work").stderr
    # Someone without a role is told who was denied what.
    client.act("role", user="guest", role="read")
    refused = clone.run("push", signed_in(server, "as:guest"), "HEAD:refs/heads/more")
    assert "Permission to octo/demo.git denied to guest." in refused.stderr
    readonly = clone.run("push", signed_in(server, "read-only"), "HEAD:refs/heads/more")
    assert "Write access to repository not granted." in readonly.stderr


def test_a_rule_says_why(client, clone):
    """A refused ref is reported with GitHub's reason and the page of the rules."""
    client.act("refuse_refs", pattern="refs/heads/claude/*")
    clone.commit()
    refused = clone.run("push", "origin", "HEAD:refs/heads/claude/x", "HEAD:refs/heads/free")
    assert "GH013: Repository rule violations found for refs/heads/claude/x." in refused.stderr
    assert "/octo/demo/rules?ref=refs%2Fheads%2Fclaude%2Fx" in refused.stderr
    assert "(push declined due to repository rule violations)" in refused.stderr
    assert "refs/heads/free" in _refs(client)


def test_a_policy_limits_the_refs_of_one_push(client, clone):
    """More refs than the policy allows are refused together, without a report on any of them."""
    client.act("push_limit", refs=2)
    sha = clone.commit()
    names = [f"{sha}:refs/agentsync/claims/{number}" for number in (1, 2, 3)]
    refused = clone.run("push", "origin", *names)
    assert refused.returncode != 0
    assert "do not allow pushes that update more than 2 branches or tags." in refused.stderr
    assert not any(name.startswith("refs/agentsync") for name in _refs(client))
    clone.git("push", "--quiet", "origin", *names[:2])
    client.act("push_limit", refs=None)
    clone.git("push", "--quiet", "origin", *names)


def test_a_proxy_lets_only_the_working_branch_pass(client, clone):
    """A sandbox's proxy answers 403 to a push that names any other ref."""
    client.act("push_only", patterns=["refs/heads/claude/*"])
    sha = clone.commit()
    refused = clone.run("push", "origin", f"{sha}:refs/agentsync/claims/42")
    assert "The requested URL returned error: 403" in refused.stderr
    clone.git("push", "--quiet", "origin", "HEAD:refs/heads/claude/x")
    assert _refs(client)["refs/heads/claude/x"] == sha


def test_latency_is_for_git_too(client, clone):
    """Every request of git waits as long as every request of the interface."""
    client.http.post("/_emulator/latency", json={"ms": 300})
    started = time.perf_counter()
    clone.git("ls-remote", "origin")
    assert time.perf_counter() - started >= 0.3
