"""What a handoff does to a pull request that is open, and what settings ask for besides."""

import pytest
from support.stage import human


@pytest.fixture
def claimed(theatre):
    """Hold issue 42 by hand, with one commit on its branch."""
    theatre.git("switch", "-q", "-c", "claude/test")
    theatre.stage.commit("work.txt", "work\n", "Add a lock")
    theatre.hold()
    return theatre


def pull(theatre):
    """Return the only pull request."""
    (found,) = theatre.pulls()
    return found


def edit(theatre, **fields):
    """Let a person edit the pull request in the browser."""
    import httpx

    address = f"{theatre.stage.url}/repos/octo/demo/pulls/45"
    httpx.patch(address, json=fields, headers={"Authorization": "token as:mona"}).raise_for_status()


def gate(theatre, command):
    """Give the project one gate."""
    folder = theatre.stage.root / ".gauntlet" / "checks"
    folder.mkdir(parents=True)
    (folder / "test.yml").write_text(f"command: {command}\n")
    (folder.parent / "config.yml").write_text("entry_points:\n  - path: .\n    checks: [test]\n")
    theatre.git("add", "-A")
    theatre.stage.commit(".gitignore", "gauntlet_logs\n", "Add a gate")
    theatre.git("push", "-q", "origin", "main")


def test_finished_handoff_makes_a_draft_ready(theatre):
    """With passed gates the draft becomes ready for review, with the new title, body and gates, in two requests."""
    gate(theatre, "test ! -e BROKEN")
    theatre.git("switch", "-q", "-c", "claude/test")
    theatre.hold()
    theatre.stage.commit("BROKEN", "x\n", "Try it")
    theatre.stage.command("handoff", "--draft", "--summary", "Draft it")
    assert (pull(theatre)["draft"], pull(theatre)["title"]) == (True, "Draft it")
    assert "Gates: Failed" in pull(theatre)["body"]
    theatre.git("rm", "-q", "BROKEN")
    theatre.stage.commit("work.txt", "work\n", "Add a lock")
    played = theatre.stage.command("handoff", "--summary", "Fix the race")
    assert (pull(theatre)["draft"], pull(theatre)["title"]) == (False, "Fix the race"), played.stderr
    assert ("Gates: Passed" in pull(theatre)["body"], "Gates: Failed" in pull(theatre)["body"]) == (True, False)
    assert "Its title and body were updated. It is no draft any more" in played.stdout
    assert theatre.operations()[:2] == ["Lookup", "UpdatePull"]


def test_draft_stays_a_draft(claimed):
    """Whoever hands off as a draft again wants it to stay one."""
    for summary in ("One", "Two"):
        claimed.stage.command("handoff", "--draft", "--summary", summary)
    assert (pull(claimed)["draft"], pull(claimed)["title"]) == (True, "Two")


def test_repeated_handoff_brings_the_text_up_to_date(claimed):
    """A second handoff lists the new commit; a third one without news writes nothing."""
    claimed.stage.command("handoff")
    claimed.stage.commit("more.txt", "more\n", "Test the lock")
    claimed.stage.command("handoff")
    assert "Test the lock" in pull(claimed)["body"]
    claimed.stage.command("handoff")
    assert "UpdatePull" not in claimed.operations()


@pytest.mark.parametrize(("field", "other"), [("title", "body"), ("body", "title")])
def test_edit_of_a_person_is_respected(claimed, field, other):
    """What a person has written stays, and that is said; the rest is brought up to date."""
    claimed.stage.command("handoff", "--summary", "One")
    edit(claimed, **{field: "Mine " + pull(claimed)[field]})
    mine = pull(claimed)[field]
    played = claimed.stage.command("handoff", "--summary", "Two")
    assert f"Its {field} was edited on GitHub and left so." in played.stdout
    assert (pull(claimed)[field], "Two" in pull(claimed)[other]) == (mine, True)
    claimed.stage.command("handoff", "--summary", "Three")
    assert pull(claimed)[field] == mine


def test_settings_ask_for_reviewers_labels_and_merge(claimed):
    """Labels, reviews and the merge are ordered after the opening, in one request each."""
    claimed.stage.act("role", user="mona", role="write")
    claimed.stage.act("rules", auto_merge=True, required_reviews=1)
    claimed.stage.command("handoff", "--later")
    asked = {"AGENT_SYNC_PR_REVIEWERS": '["mona"]', "AGENT_SYNC_PR_LABELS": '["agent", "cache"]'}
    played = claimed.hook("on-stop", **asked, AGENT_SYNC_PR_AUTO_MERGE="squash")
    assert claimed.operations()[:2] == ["Lookup", "OpenPull"]
    assert (len(claimed.operations()), "could not" in played.stdout) == (5, False), played.stdout


def test_refusals_block_nothing_and_are_said_once(claimed):
    """What GitHub refuses is said once; the pull request is open and the task goes on."""
    claimed.stage.command("handoff", "--later")
    asked = {"AGENT_SYNC_PR_REVIEWERS": '["nobody-of-that-name"]', "AGENT_SYNC_PR_AUTO_MERGE": "merge"}
    played = claimed.hook("on-stop", **asked)
    assert "PR #45 created" in human(played)
    assert "Reviews by nobody-of-that-name could not be set" in human(played)
    assert "Auto-merge could not be set" in human(played)
    assert claimed.stage.claim()["phase"] == "pr_created"
    assert "could not" not in human(claimed.hook("on-stop", **asked))


def test_draft_asks_nobody(claimed):
    """A draft gets its labels only; the reviewers are asked once it is ready."""
    claimed.stage.act("role", user="mona", role="write")
    asked = {"AGENT_SYNC_PR_REVIEWERS": '["mona"]'}
    claimed.stage.command("handoff", "--draft", "--later")
    claimed.hook("on-stop", **asked)
    assert claimed.operations() == ["Lookup", "OpenPull"]
    claimed.stage.command("handoff", "--later")
    claimed.hook("on-stop", **asked)
    assert claimed.operations()[:2] == ["Lookup", "UpdatePull"]
    assert len(claimed.operations()) == 3
