"""A session that has claimed something in another worktree of its clone: its hooks look after that, too."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.stage import Theatre, agent, human, reply

SESSION = "1f0c7a52-2f5e-4f0e-9d0f-3a1b2c3d4e5f"
INSIDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}


@pytest.fixture
def there(theatre):
    """Claim issue 42 in a worktree of its own, from within a session; return what acts there."""
    inside = replace(theatre.stage, environment=theatre.stage.environment | INSIDE)
    claimed = inside.command("claim", "42", "--worktree")
    assert claimed.status == 0, claimed.stderr
    assert "do not see" not in claimed.stderr
    return Theatre(replace(inside, root=theatre.stage.root.parent / f"{theatre.stage.root.name}-42"))


def event(theatre, session=SESSION, **fields):
    """Return the input of a hook of the session, which stands in the main checkout."""
    return json.dumps({"session_id": session, "cwd": str(theatre.stage.root)} | fields)


def hand_off(there):
    """Do the work in the other worktree and say that it is ready."""
    there.stage.commit("cache.py", "LOCK = 1\n", "Add a lock")
    handed = there.stage.command("handoff", "--summary", "Add a lock")
    assert "when this turn ends" in handed.stdout, handed.stderr


def test_pull_request_is_opened_when_the_turn_ends(theatre, there):
    """A stop in the main checkout opens the pull request of the other worktree, and tells both readers.

    A session that has not claimed it does nothing for it. The watcher of its own session looks at the pull request.
    """
    hand_off(there)
    assert theatre.hook("on-stop", stdin=event(theatre, "another-session")).stdout == ""
    assert theatre.pulls() == []
    stopped = theatre.hook("on-stop", stdin=event(theatre))
    assert [pull["number"] for pull in theatre.pulls()] == [45]
    assert "PR #45 created" in human(stopped)
    assert "PR #45 is open" in agent(stopped)
    assert there.stage.claim()["phase"] == "pr_created"
    assert theatre.stage.claim() is None
    theatre.stage.act("add_check", pull=45, name="unit", status="completed", conclusion="failure")
    woken = theatre.hook("on-idle", "--rewake", stdin=event(theatre))
    assert (woken.status, '1 FAILED — "unit"' in woken.stderr) == (2, True)
    assert "agent-sync push" in woken.stderr
    assert '1 FAILED — "unit"' in human(theatre.hook("on-stop", stdin=event(theatre)))
    assert theatre.hook("on-stop", stdin=event(theatre)).stdout == ""


def test_session_is_told_what_it_holds_elsewhere(theatre, there):
    """A session that is resumed hears of the claim and where it is; the status line has it, too.

    With nothing to do in either worktree, both leave a stamp and the next hook asks nothing.
    """
    for _ in range(2):
        played = theatre.hook("on-stop", stdin=event(theatre))
        assert (reply(played), played.requests) == ({}, 0)
    assert there.stage.claim()["phase"] == "coding"
    told = agent(theatre.hook("session-start", stdin=event(theatre)))
    assert f'In "{there.stage.root}": agent-sync: this worktree holds issue #42' in told
    assert theatre.hook("statusline", stdin=event(theatre)).stdout == "#42 · coding"
    lease_is_renewed_from_the_session(theatre, there)
    theatre.hold(issue_number=43)
    assert theatre.hook("statusline", stdin=event(theatre)).stdout == "#43 · coding | #42 · coding"
    assert there.stage.claim()


def lease_is_renewed_from_the_session(theatre, there):
    """Work of the session keeps the lease of the other worktree alive."""
    root = there.stage.root
    state = Path(there.git("rev-parse", "--absolute-git-dir")) / "agentsync"
    claim = there.stage.claim()
    old = json.dumps(claim | {"lease": claim["lease"] | {"renewed_at": "2020-01-01T00:00:00Z"}})
    for path in (root / ".agent-claim.json", state / "claim.base.json"):
        path.write_text(old)
    assert not (state / "renewal.tried").exists()
    theatre.hook("on-tool", stdin=event(theatre))
    assert (state / "renewal.tried").exists()


def test_unknown_session_is_said(theatre):
    """Where the client does not name its session, the command says that its hooks do not see the worktree."""
    inside = replace(theatre.stage, environment=theatre.stage.environment | {"CLAUDECODE": "1"})
    assert "the hooks of this session do not see" in inside.command("claim", "42", "--worktree").stderr
