"""Answers that GitHub and proxies are known to give and the local GitHub does not: rewritten on their way."""

import json

import pytest
from support.clones import ref, told, with_variables
from support.rewriting_proxy import answering, rewriting_proxy


@pytest.fixture
def proxied(theatre):
    """Return a clone whose agent-sync asks GitHub through a proxy, and the proxy."""
    with rewriting_proxy(theatre.stage.url) as proxy:
        yield with_variables(theatre, AGENT_SYNC_GITHUB_URL=proxy.url), proxy


def errors(kind, message, *path, **data):
    """Return a GraphQL answer with one error."""
    return json.dumps({"data": data, "errors": [{"type": kind, "message": message, "path": list(path)}]}).encode()


def test_remote_of_a_sandbox_works_with_the_repository_named(theatre):
    """Behind a git proxy whose address names no repository and that takes the working branch only, a task is handed off."""
    theatre.stage.act("push_only", patterns=["refs/heads/*"])
    with rewriting_proxy(theatre.stage.url) as proxy:
        proxy.change_path = lambda path: path.removeprefix("/git")
        remote = f"{proxy.url.replace('://', '://local_proxy@')}/git/octo/demo"
        theatre.git("remote", "set-url", "origin", remote)
        refused = with_variables(theatre, AGENT_SYNC_GITHUB_URL="").stage.command("claim", "42")
        assert (refused.status, "GH_REPO" in refused.stderr) == (1, True), told(refused)
        web = with_variables(theatre, AGENT_SYNC_GITHUB_REPOSITORY="octo/demo")
        played = web.stage.command("claim", "42", "--branch", "claude/session-1")
        assert (played.status, ref(web) is not None) == (0, True), told(played)
        web.stage.commit("work.txt", "work\n", "Work")
        handed = web.stage.command("handoff", "--summary", "Fix")
        assert handed.status == 0, told(handed)
        assert [pull["head"] for pull in web.pulls()] == ["claude/session-1"]
        assert any(path.startswith("/git/octo/demo/") for path in proxy.paths)


def test_refusal_without_a_cause_is_repeated_in_githubs_words(proxied):
    """Nothing is guessed about the token: the words, and the command that tries what works."""
    theatre, proxy = proxied
    proxy.answer_for = answering(b"query Task", errors("FORBIDDEN", "Computer says no.", "repository"), times=9)
    played = theatre.stage.command("claim", "42")
    assert played.status == 4, told(played)
    assert ("Computer says no" in played.stderr, "agent-sync doctor --live" in played.stderr) == (True, True)
    assert "scope" not in played.stderr


def test_single_sign_on_is_told_with_its_address(theatre):
    """A token that an organisation's single sign-on keeps out is told where to let it in."""
    theatre.stage.act("access_policy", owner="octo", policy="saml")
    played = theatre.stage.command("claim", "42")
    assert (played.status, "authorise the token at https://github.com/orgs/octo/sso" in played.stderr) == (4, True)


def test_push_that_github_has_not_seen_yet_is_tried_again(proxied):
    """Right after a push GitHub may not know the branch's head; the pull request is opened all the same."""
    theatre, proxy = proxied
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("work.txt", "work\n", "Work")
    unseen = errors("UNPROCESSABLE", "Head sha can't be blank, Base sha can't be blank", "pull", pull=None)
    proxy.answer_for = answering(b"mutation OpenPull", unseen)
    handed = theatre.stage.command("handoff", "--summary", "Fix")
    assert (handed.status, len(theatre.pulls())) == (0, 1), told(handed)
    assert "blank" not in told(handed)


def test_date_without_a_zone_does_not_stop_the_doctor(proxied):
    """A header that a proxy has rewritten costs the check of the clock at most."""
    theatre, proxy = proxied
    proxy.change_headers = lambda headers: {
        name: "Tue, 03 Mar 2026 12:00:00 -0000" if name.lower() == "date" else value for name, value in headers.items()
    }
    shown = told(theatre.stage.command("doctor"))
    assert ("clock" in shown, "Traceback" in shown, "TypeError" in shown) == (True, False, False), shown


def test_answer_that_breaks_the_promise_is_told_in_one_sentence(proxied):
    """In hooks, commands and the doctor: our words with the request's name, no trace, and nothing asked twice."""
    theatre, proxy = proxied
    assert theatre.stage.command("claim", "42").status == 0
    twisted = json.dumps({"data": {"viewer": 7, "repository": 7, "boardOwner": {"projectV2": {"id": 7}}}}).encode()
    seen = []

    def answer(asked):
        seen.append(asked)
        return twisted if b"query" in asked else None

    proxy.answer_for = answer
    begun = theatre.hook("session-start")
    assert begun.status == 0, told(begun)
    assert ("not what it promises" in told(begun), "Traceback" in told(begun)) == (True, False), told(begun)
    assert len([asked for asked in seen if b"query Board" in asked]) == 1
    for command in ("next", "board", "sync", "doctor", "status"):
        played = theatre.stage.command(command)
        shown = told(played)
        assert (played.status != 70, "Traceback" in shown, "Error:" in shown) == (True, False, False), (command, shown)


def test_log_that_cannot_be_read_does_not_hide_the_result(proxied):
    """An answer of REST without a body costs the log of a failed job, and not the news that it failed."""
    theatre, proxy = proxied
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("work.txt", "work\n", "Work")
    assert theatre.stage.command("handoff").status == 0
    check = {"status": "completed", "conclusion": "failure", "log": "first\nlast\n"}
    theatre.stage.act("add_check", pull=theatre.pulls()[0]["number"], name="test", **check)
    proxy.answer_for = lambda _asked: b"" if "/annotations" in proxy.paths[-1] else None
    played = theatre.stage.command("sync")
    assert (played.status, "CI failed" in told(played), "last" in told(played)) == (0, True, True), told(played)


def test_pull_request_that_cannot_be_opened_now_is_pending(theatre):
    """A handoff whose last step GitHub did not answer ends with 8: the branch is pushed, the next look goes on."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("work.txt", "work\n", "Work")
    theatre.fault("status:502", operation="OpenPull")
    played = theatre.stage.command("handoff")
    assert (played.status, "Handed off" in played.stdout) == (8, True), told(played)
    assert theatre.stage.command("sync").status == 0
    assert len(theatre.pulls()) == 1
