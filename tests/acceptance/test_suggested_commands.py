"""Every command that a situation suggests is accepted in that situation: each is played on the local GitHub and run."""

import json
import shlex
import signal
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from support.clients import Client, shared_nursery
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


def did(theatre: Theatre, *arguments: str, stdin: str = "") -> None:
    """Run a command that has to work."""
    played = theatre.stage.command(*arguments, stdin=stdin)
    assert played.status in ACCEPTED, played.stdout + played.stderr


def as_it_is(theatre: Theatre) -> Theatre:
    """Do nothing more."""
    return theatre


def worked(theatre: Theatre) -> Theatre:
    """Commit something for the issue that is claimed."""
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    return theatre


def committed(theatre: Theatre) -> Theatre:
    """Claim issue 42 and commit something for it."""
    did(theatre, "claim", "42")
    return worked(theatre)


def opened(theatre: Theatre) -> Theatre:
    """Open PR #45."""
    did(committed(theatre), "handoff", "--summary", "Fix the race")
    return theatre


def act(name: str, /, **fields: object) -> Callable[[Theatre], Theatre]:
    """Return how somebody does something on GitHub."""

    def play(theatre: Theatre) -> Theatre:
        theatre.stage.act(name, **fields)
        return theatre

    return play


def reopened(theatre: Theatre) -> Theatre:
    """Let somebody close the pull request and open it again, with a look in between."""
    theatre.stage.act("close_pull", pull=45)
    did(theatre, "sync")
    theatre.stage.act("reopen_pull", pull=45)
    return theatre


def checked(conclusion: str) -> Callable[[Theatre], Theatre]:
    """Return how CI reports on PR #45."""
    return act("add_check", pull=45, name="test", status="completed", conclusion=conclusion)


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
    theatre.edit_claim(phase="done")
    theatre.hook("on-stop")
    return theatre


def consented(theatre: Theatre) -> Theatre:
    """Merge the pull request that is open last, agree to the closing, and end no turn."""
    theatre.stage.act("merge_pull", pull=theatre.pulls()[-1]["number"], method="squash")
    did(theatre, "done", "--later")
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
    theatre.git("push", "-q", "origin", f":{CLAIM_REF}")
    return theatre


def killed(theatre: Theatre, session: str) -> None:
    """Kill a session at work, and begin another one."""
    scenery = theatre.stage
    client = Client(shared_nursery(), scenery.root)
    given = json.dumps({"cwd": str(scenery.root), "session_id": session, "prompt": "Fix the race"})
    for name in ("session-start", "on-prompt"):
        assert client.do_there(scenery.root, scenery.environment, name, stdin=given).status == 0
    client.crash()
    theatre.hook("session-start", stdin=json.dumps({"source": "startup", "session_id": f"after {session}"}))


def interrupted(theatre: Theatre) -> Theatre:
    """Kill the session that worked on a claim, with changes and before it has committed anything."""
    did(theatre, "claim", "42")
    (theatre.stage.root / "half.py").write_text("half = None\n")
    killed(theatre, "s1")
    return theatre


def crashed(theatre: Theatre) -> Theatre:
    """Kill the session that goes on, after a commit."""
    theatre.stage.commit("half.py", "whole = True\n", "Add a lock")
    killed(theatre, "s2")
    return theatre


def ahead(theatre: Theatre) -> Theatre:
    """Commit something that the PR does not have."""
    theatre.stage.commit("more.py", "more = True\n", "More")
    return theatre


def retargeted(theatre: Theatre) -> Theatre:
    """Let somebody choose another base."""
    theatre.stage.act("push_commit", branch="develop", path="d.txt", content="d")
    theatre.stage.act("retarget_pull", pull=45, base="develop")
    return theatre


def conflicting(theatre: Theatre) -> Theatre:
    """Let somebody change the same file on the base branch."""
    fields = {"branch": "main", "path": "cache.py", "content": "other = 1\n"}
    opened(theatre).stage.act("push_commit", **fields)
    return theatre


def transferred(theatre: Theatre) -> Theatre:
    """Let somebody move the issue to a fork of theirs."""
    theatre.stage.act("fork", by="mona")
    theatre.stage.act("transfer_issue", issue=42, to="mona/demo")
    return theatre


def reverted(theatre: Theatre) -> Theatre:
    """Let somebody take the merge back, and that be merged, too."""
    theatre.stage.act("merge_pull", pull=45, method="squash")
    did(theatre, "sync")
    theatre.stage.act("revert_pull", pull=45, by="mona")
    theatre.stage.act("merge_pull", pull=46)
    return theatre


def unclaimed(theatre: Theatre) -> Theatre:
    """Lose the claim file."""
    did(theatre, "claim", "42")
    (theatre.stage.root / ".agent-claim.json").unlink()
    return theatre


def stepped(*steps: tuple[str, ...]) -> Callable[[Theatre], Theatre]:
    """Return how a task without GitHub is worked on; a validation may fail."""

    def play(theatre: Theatre) -> Theatre:
        for arguments in steps:
            theatre.stage.command(*arguments)
        return theatre

    return play


@dataclass(frozen=True)
class Row:
    """A situation, how to get there from where the row before has ended, and the command it suggests."""

    kind: type
    play: Callable[[Theatre], Theatre]
    suggests: str


SYNC, PUSH, WATCH = "agent-sync sync", "agent-sync push", "agent-sync status --watch"
FORCE = "agent-sync release --force"
HANDOFF, VALIDATE = "agent-sync handoff", "agent-sync validate -- CMD"
# Each story begins with a clone that holds nothing, and goes from situation to situation by what is suggested.
STORIES = {
    "a task without GitHub": {
        "free": Row(situations.Free, as_it_is, "agent-sync next"),
        "task to start": Row(
            situations.Recorded, stepped(("start", "fix it", "-t", "bugfix")), "agent-sync step start"
        ),
        "task at work": Row(situations.Recorded, as_it_is, VALIDATE),
        "task in validation": Row(
            situations.Recorded, stepped(("step", "start"), ("step", "output", "done")), VALIDATE
        ),
        "task that waits": Row(
            situations.WaitingForHuman, stepped(("step", "start"), ("validate", "--", "false")), "agent-sync approve"
        ),
    },
    "no board": {
        "free": Row(
            situations.Free, lambda theatre: with_variables(theatre, AGENT_SYNC_PROJECT_NUMBER=""), "agent-sync init"
        ),
    },
    "merged": {
        "claim file gone": Row(situations.Unclaimed, unclaimed, "agent-sync claim 42"),
        "coding": Row(situations.Coding, worked, HANDOFF),
        "watching": Row(situations.Watching, as_it_is, WATCH),
        "merged": Row(situations.AwaitingConsent, act("merge_pull", pull=45, method="squash"), "agent-sync done"),
    },
    "closed unmerged": {
        "opening": Row(situations.Opening, handed_off, SYNC),
        "card moved": Row(
            drift.MovedOnBoard, act("set_field", issue=42, field="Status", value="Todo", by="mona"), WATCH
        ),
        "retargeted": Row(drift.Retargeted, retargeted, WATCH),
        "issue closed": Row(drift.IssueClosed, act("close_issue", issue=42, by="mona"), FORCE),
        "issue open again": Row(drift.IssueReopened, act("reopen_issue", issue=42), WATCH),
        "not closed": Row(situations.NotClosed, unmerged, SYNC),
    },
    "opened again and again": {
        "not opened": Row(situations.NotOpened, empty, HANDOFF),
        "open again": Row(drift.Reopened, reopened, WATCH),
        "closed": Row(situations.ClosedUnmerged, act("close_pull", pull=45), HANDOFF),
        "branch deleted": Row(drift.BranchDeleted, act("delete_branch", branch=BRANCH, by="mona"), HANDOFF),
        "closing": Row(situations.Closing, consented, SYNC),
    },
    "taken back": {
        "CI failed": Row(situations.CIFailed, lambda theatre: checked("failure")(opened(theatre)), PUSH),
        "ahead": Row(situations.Ahead, ahead, PUSH),
        "green": Row(situations.AwaitingMerge, checked("success"), SYNC),
        "changes requested": Row(
            situations.ChangesRequested, act("review", pull=45, state="CHANGES_REQUESTED", by="mona"), PUSH
        ),
        "reverted": Row(drift.Reverted, reverted, "agent-sync release"),
    },
    "taken away": {
        "conflicting": Row(situations.Conflicting, conflicting, PUSH),
        "force-pushed": Row(drift.ForeignHead, act("force_push", branch=BRANCH, by="mona"), SYNC),
        "reassigned": Row(drift.Reassigned, act("assign", issue=42, users=["mona"]), FORCE),
        "issue transferred": Row(drift.IssueGone, transferred, "agent-sync release --force"),
    },
    "crashes": {
        "waiting": Row(situations.WaitingForHuman, interrupted, "agent-sync resume"),
        "crashed": Row(situations.Crashed, crashed, "agent-sync resume"),
        "lease unknown": Row(situations.LeaseUnverified, vanished, SYNC),
    },
    "withheld": {"withheld": Row(situations.Withheld, gated, SYNC)},
    "left on a hook": {"left on a hook": Row(situations.OnHook, left, "agent-sync worker take")},
    "lost": {"lost": Row(situations.Lost, lost, "agent-sync release")},
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


@pytest.mark.parametrize("story", STORIES)
def test_suggested_commands_are_accepted(theatre, story):
    """`status` names each situation and its command, and the command is neither refused nor misused there."""
    there = theatre
    for name, row in STORIES[story].items():
        there = row.play(there)
        seen = json.loads(there.stage.command("status", "--json").stdout)
        assert (seen["situation"]["name"], seen["next"]) == (row.kind.__name__, row.suggests), name
        assert seen["situation"]["command"] == row.suggests, name
        # The story goes on with the task; that it is given back is played elsewhere.
        ends = row.suggests == FORCE and row.kind is not drift.IssueGone
        status, said = ran(there, f"{row.suggests} --dry-run" if ends else row.suggests)
        assert status in ACCEPTED, (name, said)
        if ends:
            there.stage.command("sync")


def test_unusable_claim_file_is_explained_by_doctor(theatre):
    """A broken claim file leads to `agent-sync doctor`, which says what is wrong with it."""
    (theatre.stage.root / ".agent-claim.json").write_text("{")
    assert "agent-sync doctor" in theatre.stage.command("statusline").stdout
    assert ".agent-claim.json is not valid JSON" in theatre.stage.command("doctor").stdout


def test_every_command_of_the_fleet_is_the_same(theatre):
    """`status --all` names for a worktree of this clone what `status` names there."""
    checked("failure")(opened(theatre))
    theatre.stage.command("sync")
    (row,) = json.loads(theatre.stage.command("status", "--all", "--json").stdout)["claims"]
    assert (row["situation"]["name"], row["next"], row["branch"]) == ("CIFailed", "agent-sync push", BRANCH)
    assert "next: agent-sync push" in theatre.stage.command("status", "--all").stdout
