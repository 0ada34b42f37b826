"""Work that is paused and resumed elsewhere: what the next session is told, and how it gets everything back."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from support.stage import Theatre, agent

INPUT = '{"componentId": "c-7"}'


def ran(theatre, *arguments, status=0):
    """Run a command, which must end as told."""
    played = theatre.stage.command(*arguments)
    assert played.status == status, played.stdout + played.stderr
    return played


def machine(theatre, name, **variables):
    """Return another machine: a clone and a home of its own, with sessions of worker w1."""
    root, home = theatre.stage.root.with_name(name), theatre.stage.root.with_name(f"home-{name}")
    home.mkdir()
    theatre.git("clone", "-q", f"{theatre.stage.url}/octo/demo.git", str(root))
    own = {"AGENT_SYNC_WORKER": "w1", "HOME": str(home), **variables}
    return Theatre(replace(theatre.stage, root=root, environment=theatre.stage.environment | own))


def hook_md(theatre):
    """Return HOOK.md of the machine's task."""
    (page,) = Path(theatre.stage.environment["HOME"]).glob(".atlas/workspaces/*/tasks/*/HOOK.md")
    return page.read_text()


def test_next_session_learns_input_resume_point_and_how_to_restore(theatre):
    """Session start, `take` and HOOK.md name all three; the command they give brings every file back.

    A name of rescued files that was used before the claim's ref was deleted is used again, and what it kept stays
    reachable behind the new ones.
    """
    theatre.git("push", "-q", "origin", "HEAD:refs/agentsync/rescue/42-2")
    earlier = theatre.git("rev-parse", "HEAD")
    ran(theatre, "worker", "sling", "42", "w1", "--input", INPUT)
    first = machine(theatre, "first")
    ran(first, "worker", "take")
    assert "c-7" in hook_md(first)
    assert "`agent-sync worker result`" in hook_md(first)
    first.stage.commit("cache.py", "lock\n", "Lock")
    (first.stage.root / "cache.py").write_text("lock\nhalf\n")
    (first.stage.root / "new.txt").write_text("new\n")
    (first.stage.root / "README.md").unlink()
    ran(first, "worker", "pause", "--resume-point", "write the test", "--summary", "Lock added")
    second = machine(theatre, "second")
    told = agent(second.stage.hook("session-start", event="SessionStart"))
    ran_there = ran(second, "worker", "take")
    page = hook_md(second)
    (command,) = [line.strip() for line in page.splitlines() if "git restore" in line]
    for text in (told, ran_there.stdout, page):
        assert "write the test" in text
        assert command in text
    assert "refs/agentsync/rescue/42-2" in command
    assert "refs/agentsync/rescue/42-2" in page
    assert "c-7" in told
    assert "c-7" in page
    assert "Lock added" in page
    subprocess.run(command, shell=True, cwd=second.stage.root, env=second.stage.environment, check=True)  # noqa: S602
    assert (second.stage.root / "cache.py").read_text() == "lock\nhalf\n"
    assert (second.stage.root / "new.txt").read_text() == "new\n"
    assert not (second.stage.root / "README.md").exists()
    theatre.git("fetch", "-q", "origin", "refs/agentsync/rescue/42-2")
    assert theatre.git("show", "FETCH_HEAD:new.txt") == "new"
    assert earlier in theatre.git("rev-parse", "FETCH_HEAD^@").split()


def test_forged_rescue_ref_is_never_part_of_a_command():
    """A name that agent-sync has not made is shown quoted, and no command is given that would run it."""
    from agent_sync.leases.refs.values import Where
    from agent_sync.work.rescue import restore_command

    sha = "a" * 40
    for ref in ("refs/agentsync/rescue/1-1;touch x", "refs/heads/main", "$(touch x)", "refs/agentsync/rescue/1-1\n"):
        assert restore_command(ref, sha, where=Where.REMOTE, remote="origin") == ""
    assert restore_command("refs/agentsync/rescue/1-1", sha, where=Where.REMOTE, remote="a b").startswith(
        "git fetch 'a b' refs/agentsync/rescue/1-1 &&"
    )


def test_slung_work_keeps_nobody_from_the_next_issue_and_is_not_taken_while_blocked(theatre):
    """`next` and `claim --next` pass over what hangs on a hook, also where the board does not show it.

    An issue that was blocked after it was slung is refused with exit code 1 and stays on the hook as BLOCKED.
    """
    ran(theatre, "worker", "sling", "42", "w1")
    theatre.stage.act("set_field", issue=42, field="Status", value="Todo")
    theatre.stage.act("set_field", issue=42, field="Agent", value=None)
    assert "#42" not in ran(theatre, "next").stdout.replace("held", "")
    assert "Claimed issue #43" in ran(theatre, "claim", "--next").stdout
    ran(theatre, "release")
    theatre.stage.act("block_issue", issue=42, blocked_by=40)
    refused = ran(theatre, "worker", "take", "--worker", "w1", status=1)
    assert "Issue #42 is blocked by #40; the work stays on the hook of main/w1." in refused.stderr
    assert theatre.stage.claim() is None
    assert "BLOCKED" in ran(theatre, "worker", "status", "w1").stdout
    assert "blocked by #40" in ran(theatre, "worker", "take", "--worker", "w1", status=1).stderr


def test_epic_with_open_sub_issues_is_slung_by_force_only(theatre):
    """An epic is no single task: its open sub-issues are named, and only --force slings it."""
    theatre.stage.act("sub_issue", issue=42, parent=43)
    assert "it has open sub-issues: #42" in ran(theatre, "worker", "sling", "43", "w1", status=1).stderr
    assert "Slung issue-43" in ran(theatre, "worker", "sling", "43", "w1", "--force").stdout


@pytest.mark.parametrize("how", ["no remote", "setting"])
def test_hooks_of_one_clone(theatre, how):
    """Without a remote, or by setting, work is slung, paused, resumed and finished in this clone, which is said."""
    own = {"AGENT_SYNC_WORKER": "w1"}
    if how == "no remote":
        theatre.git("remote", "remove", "origin")
        own["AGENT_SYNC_GITHUB_REPOSITORY"] = "octo/demo"
    else:
        own["AGENT_SYNC_LEASE_WHERE"] = "clone"
    here = Theatre(replace(theatre.stage, environment=theatre.stage.environment | own))
    assert "holds for this clone only" in ran(here, "worker", "sling", "42", "w1").stderr
    assert here.card()["Status"] == "In Progress"
    ran(here, "worker", "take")
    here.stage.commit("cache.py", "lock\n", "Lock")
    (here.stage.root / "new.txt").write_text("new\n")
    ran(here, "worker", "pause")
    (here.stage.root / "new.txt").unlink()
    taken = json.loads(ran(here, "worker", "take", "--json").stdout)
    assert "fetch" not in taken["restore"]
    subprocess.run(taken["restore"], shell=True, cwd=here.stage.root, check=True)  # noqa: S602
    here.stage.commit("new.txt", "new\n", "New")
    ran(here, "worker", "result")
    assert not [ref for ref in here.stage.world()["refs"] if "agentsync" in ref["name"]]
    assert "COMPLETE" in ran(here, "worker", "list").stdout
