"""The fleet as a person and a script see it: `agent-sync` without arguments, and `status --all`."""

import json
import shutil
from dataclasses import replace

from support.clones import beside
from support.neighbours import new_issues
from support.stage import Theatre
from support.terminals import on_terminal

LANES = ("Needs you", "Working", "Waiting", "Ready")


def lanes_in(printed: str) -> dict[str, list[str]]:
    """Return the numbers of the tasks that are printed below each lane."""
    found: dict[str, list[str]] = {}
    for line in printed.splitlines():
        name, _, count = line.partition(" (")
        if name in LANES and count.endswith(")"):
            found[name] = []
        elif line.startswith("#") and found:
            found[list(found)[-1]].append(line.split(" ")[0])
    return found


def test_an_empty_fleet_has_four_lanes(theatre):
    """Without any claim all four lanes are there with their counts, and the empty ones say so in a sentence."""
    played = theatre.stage.command()
    assert played.status == 0, played.stderr
    assert lanes_in(played.stdout) == {"Needs you": [], "Working": [], "Waiting": [], "Ready": ["#42", "#43"]}
    assert "Needs you (0)\n  Nothing needs you." in played.stdout
    assert "Working (0)\n  No agent is working. Start one: agent-sync claim --next" in played.stdout
    assert "Waiting (0)\n  Nothing waits." in played.stdout
    assert played.stdout == theatre.stage.command("status", "--all").stdout


def test_every_task_is_in_its_lane_on_one_line(theatre):
    """A green pull request needs a merge, one with running CI waits, and each line has number, CI and a command."""
    other = beside(theatre, "bob")
    for theirs, issue in ((theatre, "42"), (other, "43")):
        assert theirs.stage.command("claim", issue).status == 0
        theirs.stage.commit("work.txt", issue, "Work")
        assert theirs.stage.command("handoff", "--summary", "Work").status == 0
    theatre.stage.act("add_check", pull=45, name="test", status="completed", conclusion="success")
    theatre.stage.act("add_check", pull=46, name="test", status="in_progress")
    played = theatre.stage.command()
    assert theatre.operations() == ["Claims", "Board"]
    assert lanes_in(played.stdout) == {"Needs you": ["#42"], "Working": [], "Waiting": ["#43"], "Ready": []}
    merge, waiting = (line for line in played.stdout.splitlines() if line.startswith("#"))
    assert "CI passed; merge it? · CI green" in merge
    assert merge.endswith(f"next: gh pr merge {theatre.stage.url}/octo/demo/pull/45")
    assert "for CI, 0 of 1 done · CI running" in waiting
    values = json.loads(theatre.stage.command("status", "--all", "--json").stdout)
    assert [(task["issue"], task["situation"], task["lane"]) for task in values["tasks"]] == [
        (42, "AwaitingMerge", "needs_you"),
        (43, "Watching", "waiting"),
    ]
    assert values["counts"] == {"needs_you": 1, "working": 0, "waiting": 1, "ready": 0}
    # What scripts read before there were tasks.
    assert [row["issue"] for row in values["claims"]] == [42, 43]
    assert values["claims"][0]["situation"]["name"] == "AwaitingMerge"
    assert values["hooks"] == []


def test_what_is_not_ready_is_counted_below_the_lanes(theatre):
    """Every issue of the ready column is in a lane or counted with the reason why it is not offered."""
    for issue, users in ((42, ["mona"]), (41, ["mona"])):
        theatre.stage.act("assign", issue=issue, users=users)
    assert "Also in Todo: 1 assigned, 1 blocked." in theatre.stage.command().stdout
    theatre.stage.act("assign", issue=43, users=["octo"])
    assert "No issue is ready. Also in Todo: 2 assigned, 1 blocked." in theatre.stage.command().stdout
    theatre.stage.act("assign", issue=43, users=[])
    theatre.stage.act("set_field", issue=43, field="Agent", value="mona-1")
    parent, child = new_issues(theatre, 2)
    theatre.stage.act("sub_issue", issue=child, parent=parent)
    theatre.stage.act("assign", issue=child, users=["mona"])
    shown = theatre.stage.command().stdout
    assert "Also in Todo: 2 assigned, 1 held by others, 1 blocked, 1 with open sub-issues." in shown


def test_a_claim_whose_worktree_is_gone_needs_a_person(theatre):
    """A worktree that was deleted by hand leaves its task to a person, in this clone; elsewhere an agent is at it."""
    there = theatre.stage.root.parent / "two"
    theatre.git("worktree", "add", "-q", "--detach", str(there))
    assert Theatre(replace(theatre.stage, root=there)).stage.command("claim", "42").status == 0
    assert lanes_in(theatre.stage.command().stdout)["Working"] == ["#42"]
    shutil.rmtree(there)
    for prune in (False, True):
        if prune:
            theatre.git("worktree", "prune")
        played = theatre.stage.command()
        assert lanes_in(played.stdout)["Needs you"] == ["#42"]
        assert "its worktree is gone" in played.stdout
        assert "next: agent-sync claim 42" in played.stdout
        explained = theatre.stage.command("explain", "42").stdout
        assert "This clone holds issue #42, but its worktree is gone" in explained
        assert explained.endswith("Next: agent-sync claim 42")
    assert lanes_in(beside(theatre, "bob").stage.command().stdout)["Working"] == ["#42"]


def test_a_claim_whose_file_is_gone_needs_a_person(theatre):
    """The worktree that holds the issue is named with the command that restores the file."""
    there = theatre.stage.root.parent / "two"
    theatre.git("worktree", "add", "-q", "--detach", str(there))
    second = Theatre(replace(theatre.stage, root=there))
    assert second.stage.command("claim", "42").status == 0
    (there / ".agent-claim.json").unlink()
    played = theatre.stage.command()
    assert lanes_in(played.stdout)["Needs you"] == ["#42"]
    assert "its claim file is gone" in played.stdout
    assert f"next: cd {there} && agent-sync claim 42" in played.stdout
    assert second.stage.command("claim", "42").status == 0
    assert lanes_in(theatre.stage.command().stdout)["Working"] == ["#42"]


def test_a_session_that_ended_leaves_its_task_to_a_person(theatre):
    """A task is Working while its session is there, and needs a person as soon as that has ended."""
    session = {"session_id": "0a0a0a0a-0000-4000-8000-000000000000", "cwd": str(theatre.stage.root)}
    theatre.stage.command("claim", "42")
    theatre.hook("on-prompt", stdin=json.dumps(session | {"prompt": "Fix it"}), CLAUDECODE="1")
    theatre.hook("on-stop", stdin=json.dumps(session), CLAUDECODE="1")
    assert lanes_in(theatre.stage.command().stdout)["Working"] == ["#42"]
    theatre.hook("on-end", stdin=json.dumps(session | {"reason": "exit"}), CLAUDECODE="1")
    played = theatre.stage.command()
    assert lanes_in(played.stdout)["Needs you"] == ["#42"]
    assert "is coding; no session is at work on it" in played.stdout


def test_foreign_titles_are_shown_as_text(theatre):
    """Neither markup nor escape sequences of a title reach the terminal."""
    theatre.stage.act("add_issue", title="[red]Fix[/red] \x1b]8;;http://evil\x07it", status="Todo")
    shown = on_terminal(theatre)
    assert "[red]Fix[/red] ]8;;http://evilit" in shown
    assert "\x1b]8" not in shown


def test_watch_redraws_and_rings(theatre):
    """On a terminal the fleet is drawn in place with the time of the look, and entry into Needs you rings."""
    theatre.stage.command("claim", "42")
    theatre.stage.act("close_issue", issue=42)
    shown = on_terminal(theatre, "watch", until=b"Needs you (1)", status=130)
    assert "Live · octo/demo · 1 needs you · looked at " in shown
    assert "\a" in shown


def test_outside_a_repository_there_is_help(theatre, tmp_path):
    """Where there is no repository there is no fleet: help is shown."""
    played = replace(theatre.stage, root=tmp_path).command()
    assert (played.status, "Usage:" in played.stdout) == (0, True)


def test_without_github_the_fleet_says_so(theatre):
    """A GitHub that does not answer leaves what is known here, marked as old; never an empty board."""
    theatre.stage.command("claim", "42")
    theatre.fault("status:502", times=20, path="/graphql")
    played = theatre.stage.command()
    assert played.status == 0
    assert lanes_in(played.stdout)["Working"] == ["#42"]
    assert "Not up to date: GitHub could not be asked: " in played.stdout
