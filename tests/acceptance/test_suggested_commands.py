"""Every command that a situation suggests is accepted in that situation: each is played on the local GitHub and run."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from support.clones import BRANCH, CLAIM_REF, SHORT, long_ago, taken_over, with_variables
from support.stage import Theatre

from agent_sync.task.decision import situations
from agent_sync.task.decision.drift import drift_situations as drift

# Handed off or claimed, and GitHub has not everything yet: accepted, and to be run again.
ACCEPTED = {0, 8}
# A person fills in what stands for something, and agrees where they are asked.
TYPED = {"TEXT": "'Fix the race'", "CMD": "true", "agent-sync init": "agent-sync init --yes"}
GATE = {
    ".gauntlet/config.yml": "base_branch: origin/main\nentry_points:\n  - path: .\n    checks: [lint]\n",
    ".gauntlet/checks/lint.yml": "command: test ! -e BROKEN\n",
}
_SESSION = """
import json, subprocess, sys
given = json.dumps({"cwd": sys.argv[1], "session_id": "s1", "prompt": "Fix the race"})
for name in ("session-start", "on-prompt"):
    subprocess.run([sys.executable, "-m", "agent_sync", name], input=given, text=True, cwd=sys.argv[1], check=True)
print("working", flush=True)
sys.stdin.read()
"""


def did(theatre: Theatre, *arguments: str, stdin: str = "") -> None:
    """Run a command that has to work."""
    played = theatre.stage.command(*arguments, stdin=stdin)
    assert played.status in ACCEPTED, played.stdout + played.stderr


def committed(theatre: Theatre) -> Theatre:
    """Claim issue 42 and commit something for it."""
    did(theatre, "claim", "42")
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    return theatre


def opened(theatre: Theatre) -> Theatre:
    """Open PR #45."""
    did(committed(theatre), "handoff", "--summary", "Fix the race")
    return theatre


def checked(theatre: Theatre, conclusion: str) -> Theatre:
    """Let CI report on PR #45."""
    opened(theatre).stage.act("add_check", pull=45, name="test", status="completed", conclusion=conclusion)
    return theatre


def acted(theatre: Theatre, act: str, **fields: str) -> Theatre:
    """Let somebody do something to PR #45."""
    opened(theatre).stage.act(act, pull=45, **fields)
    return theatre


def handed_off(theatre: Theatre) -> Theatre:
    """Hand off, and end no turn."""
    did(committed(theatre), "handoff", "--summary", "Fix the race", "--later")
    return theatre


def empty(theatre: Theatre) -> Theatre:
    """Let an agent write that a branch is ready which has no commits; then commit."""
    did(theatre, "claim", "42")
    theatre.git("push", "-q", "origin", "HEAD")
    theatre.edit_claim(phase="ready_for_pr", summary="Nothing")
    theatre.hook("on-stop")
    theatre.stage.commit("work.txt", "work\n", "Work")
    return theatre


def gated(theatre: Theatre) -> Theatre:
    """Hand off work that the gates do not let through, as an agent does that writes the phase itself."""
    for name, text in GATE.items():
        (theatre.stage.root / name).parent.mkdir(parents=True, exist_ok=True)
        theatre.stage.commit(name, text, f"Add {name}")
    theatre.git("push", "-q", "origin", "main")
    theatre.work(push=False)
    theatre.stage.commit("BROKEN", "x\n", "Break")
    theatre.hold(phase="ready_for_pr", summary="Fix the race")
    theatre.hook("on-stop")
    return theatre


def unmerged(theatre: Theatre) -> Theatre:
    """Let the agent write that the work is done, although the PR is open."""
    claim = opened(theatre).stage.claim()
    (theatre.stage.root / ".agent-claim.json").write_text(json.dumps(claim | {"phase": "done"}))
    theatre.hook("on-stop")
    return theatre


def consented(theatre: Theatre) -> Theatre:
    """Agree to the closing of merged work, and end no turn."""
    did(acted(theatre, "merge_pull", method="squash"), "done", "--later")
    return theatre


def left(theatre: Theatre) -> Theatre:
    """Leave the work on a worker's hook."""
    worker = with_variables(theatre, AGENT_SYNC_WORKER="w1")
    for arguments in (("sling", "42", "w1"), ("take",), ("handoff", "--resume-point", "here")):
        did(worker, "worker", *arguments)
    return worker


def lost(theatre: Theatre) -> Theatre:
    """Let somebody else take the issue over."""
    old = with_variables(theatre, **SHORT)
    with long_ago(theatre):
        did(old, "claim", "42")
    taken_over(old)
    return old


def vanished(theatre: Theatre) -> Theatre:
    """Delete the claim ref."""
    committed(theatre).git("push", "-q", "origin", f":{CLAIM_REF}")
    return theatre


def killed(theatre: Theatre) -> None:
    """Kill a session at work."""
    command = [sys.executable, "-c", _SESSION, str(theatre.stage.root)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=theatre.stage.environment, stdin=pipe, stdout=pipe, text=True) as session:
        while session.stdout.readline() != "working\n":
            pass
        os.kill(session.pid, signal.SIGKILL)
    theatre.hook("session-start", stdin='{"source": "startup", "session_id": "s2"}')


def crashed(theatre: Theatre) -> Theatre:
    """Kill the session that worked on a claim, after a commit."""
    did(theatre, "claim", "42")
    killed_after = theatre
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    killed(killed_after)
    return theatre


def interrupted(theatre: Theatre) -> Theatre:
    """Kill the session that worked on a claim, with changes and before it has committed anything."""
    did(theatre, "claim", "42")
    (theatre.stage.root / "half.py").write_text("half = None\n")
    killed(theatre)
    return theatre


def ahead(theatre: Theatre) -> Theatre:
    """Commit something that the PR does not have."""
    opened(theatre).stage.commit("more.py", "more = True\n", "More")
    return theatre


def conflicting(theatre: Theatre) -> Theatre:
    """Let somebody change the same file on the base branch."""
    fields = {"branch": "main", "path": "cache.py", "content": "other = 1\n"}
    opened(theatre).stage.act("push_commit", **fields)
    return theatre


def issue_acted(theatre: Theatre, act: str, **fields: object) -> Theatre:
    """Let somebody do something to issue 42 while PR #45 is open."""
    opened(theatre).stage.act(act, issue=42, **fields)
    return theatre


def seen_then(theatre: Theatre, *acts: tuple[str, dict[str, object]]) -> Theatre:
    """Let somebody do one thing after the other, with a look in between."""
    opened(theatre)
    for act, fields in acts:
        theatre.stage.act(act, **fields)
        did(theatre, "sync")
    return theatre


def transferred(theatre: Theatre) -> Theatre:
    """Let somebody move the issue to a fork of theirs."""
    opened(theatre).stage.act("fork", by="mona")
    theatre.stage.act("transfer_issue", issue=42, to="mona/demo")
    return theatre


def reverted(theatre: Theatre) -> Theatre:
    """Let somebody take the merge back, and that be merged, too."""
    acted(theatre, "merge_pull", method="squash")
    did(theatre, "sync")
    theatre.stage.act("revert_pull", pull=45, by="mona")
    theatre.stage.act("merge_pull", pull=46)
    return theatre


def unclaimed(theatre: Theatre) -> Theatre:
    """Lose the claim file."""
    did(theatre, "claim", "42")
    (theatre.stage.root / ".agent-claim.json").unlink()
    return theatre


def started(theatre: Theatre, *steps: tuple[str, ...]) -> Theatre:
    """Begin a task without GitHub and work on it; a validation may fail."""
    did(theatre, "start", "fix it", "-t", "bugfix")
    for arguments in steps:
        theatre.stage.command(*arguments)
    return theatre


@dataclass(frozen=True)
class Row:
    """A situation, how to get there, and the command it suggests."""

    kind: type
    play: Callable[[Theatre], Theatre]
    suggests: str


WATCH = "agent-sync status --watch"
HANDOFF = "agent-sync handoff --summary TEXT"
TABLE = {
    "free": Row(situations.Free, lambda theatre: theatre, "agent-sync next"),
    "free, no board": Row(
        situations.Free, lambda theatre: with_variables(theatre, AGENT_SYNC_PROJECT_NUMBER=""), "agent-sync init"
    ),
    "claim file gone": Row(situations.Unclaimed, unclaimed, "agent-sync claim 42"),
    "task to start": Row(situations.Recorded, started, "agent-sync step start"),
    "task at work": Row(
        situations.Recorded, lambda theatre: started(theatre, ("step", "start")), "agent-sync validate -- CMD"
    ),
    "task in validation": Row(
        situations.Recorded,
        lambda theatre: started(theatre, ("step", "start"), ("step", "output", "done")),
        "agent-sync validate -- CMD",
    ),
    "task that waits": Row(
        situations.WaitingForHuman,
        lambda theatre: started(theatre, ("step", "start"), ("validate", "--", "false")),
        "agent-sync approve",
    ),
    "coding": Row(situations.Coding, committed, HANDOFF),
    "opening": Row(situations.Opening, handed_off, "agent-sync sync"),
    "withheld": Row(situations.Withheld, gated, "agent-sync sync"),
    "not opened": Row(situations.NotOpened, empty, HANDOFF),
    "ahead": Row(situations.Ahead, ahead, "agent-sync push"),
    "conflicting": Row(situations.Conflicting, conflicting, "agent-sync push"),
    "CI failed": Row(situations.CIFailed, lambda theatre: checked(theatre, "failure"), "agent-sync push"),
    "changes requested": Row(
        situations.ChangesRequested,
        lambda theatre: acted(theatre, "review", state="CHANGES_REQUESTED", by="mona"),
        "agent-sync push",
    ),
    "watching": Row(situations.Watching, opened, "agent-sync status --watch"),
    "green": Row(situations.AwaitingMerge, lambda theatre: checked(theatre, "success"), "agent-sync sync"),
    "closed": Row(situations.ClosedUnmerged, lambda theatre: acted(theatre, "close_pull"), HANDOFF),
    "branch deleted": Row(
        drift.BranchDeleted, lambda theatre: acted(theatre, "delete_branch", branch=BRANCH, by="mona"), HANDOFF
    ),
    "open again": Row(
        drift.Reopened,
        lambda theatre: seen_then(theatre, ("close_pull", {"pull": 45}), ("reopen_pull", {"pull": 45})),
        WATCH,
    ),
    "issue closed": Row(
        drift.IssueClosed, lambda theatre: issue_acted(theatre, "close_issue", by="mona"), "agent-sync sync"
    ),
    "issue open again": Row(
        drift.IssueReopened,
        lambda theatre: seen_then(theatre, ("close_issue", {"issue": 42}), ("reopen_issue", {"issue": 42})),
        WATCH,
    ),
    "issue transferred": Row(drift.IssueGone, transferred, "agent-sync release --force"),
    "reassigned": Row(
        drift.Reassigned, lambda theatre: issue_acted(theatre, "assign", users=["mona"]), "agent-sync sync"
    ),
    "force-pushed": Row(
        drift.ForeignHead, lambda theatre: acted(theatre, "force_push", branch=BRANCH, by="mona"), "agent-sync sync"
    ),
    "retargeted": Row(
        drift.Retargeted,
        lambda theatre: seen_then(
            theatre,
            ("push_commit", {"branch": "develop", "path": "d.txt", "content": "d"}),
            ("retarget_pull", {"pull": 45, "base": "develop"}),
        ),
        WATCH,
    ),
    "card moved": Row(
        drift.MovedOnBoard,
        lambda theatre: issue_acted(theatre, "set_field", field="Status", value="Todo", by="mona"),
        WATCH,
    ),
    "reverted": Row(drift.Reverted, reverted, "agent-sync release"),
    "merged": Row(
        situations.AwaitingConsent, lambda theatre: acted(theatre, "merge_pull", method="squash"), "agent-sync done"
    ),
    "closing": Row(situations.Closing, consented, "agent-sync sync"),
    "not closed": Row(situations.NotClosed, unmerged, "agent-sync done --yes"),
    "left on a hook": Row(situations.OnHook, left, "agent-sync worker take"),
    "lost": Row(situations.Lost, lost, "agent-sync release"),
    "lease unknown": Row(situations.LeaseUnverified, vanished, "agent-sync sync"),
    "crashed": Row(situations.Crashed, crashed, "agent-sync resume"),
    "waiting": Row(situations.WaitingForHuman, interrupted, "agent-sync resume"),
}


def ran(theatre: Theatre, command: str) -> tuple[int, str]:
    """Run a command as a person would type it; one that goes on until it is interrupted is interrupted."""
    for word, typed in TYPED.items():
        command = command.replace(word, typed)
    arguments = shlex.split(command)[1:]
    if "--watch" not in arguments:
        played = theatre.stage.command(*arguments)
        return played.status, played.stdout + played.stderr
    process = theatre.popen(*arguments)
    shown = process.stdout.readline().decode()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    return 0 if "this worktree holds issue #42" in shown else 1, shown


@pytest.mark.parametrize("name", TABLE)
def test_suggested_command_is_accepted(theatre, name):
    """`status` names the situation and its command, and the command is neither refused nor misused there."""
    row = TABLE[name]
    there = row.play(theatre)
    seen = json.loads(there.stage.command("status", "--json").stdout)
    assert (seen["situation"]["name"], seen["next"]) == (row.kind.__name__, row.suggests)
    assert seen["situation"]["command"] == row.suggests
    status, said = ran(there, row.suggests)
    assert status in ACCEPTED, said


def test_unusable_claim_file_is_explained_by_doctor(theatre):
    """A broken claim file leads to `agent-sync doctor`, which says what is wrong with it."""
    (theatre.stage.root / ".agent-claim.json").write_text("{")
    assert "agent-sync doctor" in theatre.stage.command("statusline").stdout
    assert ".agent-claim.json is not valid JSON" in theatre.stage.command("doctor").stdout


def test_every_command_of_the_fleet_is_the_same(theatre):
    """`status --all` names for a worktree of this clone what `status` names there."""
    checked(theatre, "failure")
    theatre.stage.command("sync")
    (row,) = json.loads(theatre.stage.command("status", "--all", "--json").stdout)["claims"]
    assert (row["situation"]["name"], row["next"], row["branch"]) == ("CIFailed", "agent-sync push", BRANCH)
    assert "next: agent-sync push" in theatre.stage.command("status", "--all").stdout
