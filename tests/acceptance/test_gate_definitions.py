"""Gates tell the truth about themselves: a branch that weakens its own gates is told on, another's branch cannot."""

import json
import shutil
import time
from typing import ClassVar

import pytest
from support.gauntlet import GATE_CONFIG, add_gate, write_files
from support.stage import human, reply

STOP = json.dumps({"session_id": "s1", "hook_event_name": "Stop"})


@pytest.fixture
def gated(theatre):
    """Give the project one gate on its main branch, and hold a task of it by hand."""
    add_gate(theatre)
    theatre.git("switch", "-q", "-c", "claude/test")
    theatre.hold()
    return theatre


def delete(theatre):
    theatre.git("rm", "-q", "-r", ".gauntlet")


def take_away(theatre):
    shutil.rmtree(theatre.stage.root / ".gauntlet")


def config(text):
    return lambda theatre: write_files(theatre.stage.root, {".gauntlet/config.yml": text})


def check(text):
    return lambda theatre: write_files(theatre.stage.root, {".gauntlet/checks/lint.yml": text})


def settings(text):
    return lambda theatre: write_files(theatre.stage.root, {".agent-sync.toml": text})


WEAKENED = {
    "deleted": (delete, "removed: check lint"),
    "switched off": (config(GATE_CONFIG + "stop_hook: {enabled: false}\n"), "loosened: stop_hook.enabled is false"),
    "another base": (
        config(GATE_CONFIG.replace("origin/main", "HEAD")),
        "changed: base_branch from origin/main to HEAD",
    ),
    "not run locally": (check("command: test ! -e BROKEN\nrun_locally: false\n"), "loosened: check lint, run_locally"),
    "gate not required": (settings("[pr]\nrequire_gate = false\n"), "loosened: pr.require_gate in .agent-sync.toml"),
    "no time": (settings("[gate]\ndeadline_s = 0\n"), "loosened: gate.deadline_s in .agent-sync.toml"),
    "another command": (check("command: 'true'\n"), "changed: check lint, command"),
    "check taken out": (config(GATE_CONFIG.replace("[lint]", "[]")), "loosened: . is no longer guarded by lint"),
    "entry point moved": (config(GATE_CONFIG.replace("path: .", "path: docs")), "loosened: entry point . is gone"),
    "file left out": (config(GATE_CONFIG + "    exclude: [BROKEN]\n"), "loosened: . excludes BROKEN"),
}


def stop(session):
    """Return the input of a stop of some session."""
    return STOP.replace("s1", session)


# Each group is one branch, which does one thing after the other; rows of one group are in different files.
GROUPS = (
    ("deleted",),
    ("gate not required", "switched off", "not run locally"),
    ("another command", "another base", "no time"),
    ("check taken out",),
    ("entry point moved",),
    ("file left out",),
)


def test_weakened_gates_are_told_at_the_stop_and_in_the_pull_request(gated):
    """Whatever a branch does to its own gates is said by name to the human at the stop, and in the PR's Gates section."""
    assert sorted(kind for group in GROUPS for kind in group) == sorted(WEAKENED)
    for number, group in enumerate(GROUPS):
        branch = f"weakened-{number}"
        gated.git("switch", "-q", "--no-track", "-c", branch, "main")
        for kind in group:
            weaken, named = WEAKENED[kind]
            weaken(gated)
            gated.git("add", "-A")
            gated.stage.commit("BROKEN", f"{kind}\n", "Break, and weaken the gates")
            assert named in human(gated.hook("on-stop", stdin=stop(kind))), kind
        gated.hold(phase="ready_for_pr", summary="Try", branch=branch)
        # The user's own word, so that every branch opens its pull request.
        played = gated.hook("on-stop", stdin=stop(branch), AGENT_SYNC_PR_REQUIRE_GATE="false")
        pull = gated.pulls()[-1]
        gates = pull["body"][pull["body"].index("## Gates") :]
        for kind in group:
            named = WEAKENED[kind][1]
            assert (pull["head"], named in human(played), named in gates) == (branch, True, True), kind
        (gated.stage.root / ".agent-claim.json").unlink()


def test_stop_without_a_run_tells_each_session_once(gated):
    """Where no gate runs any more, a session hears why once, the next session again, and no stamp hides it."""
    delete(gated)
    gated.git("commit", "-q", "-m", "Delete the gates")
    told = [human(gated.hook("on-stop", stdin=STOP)) for _ in range(4)]
    assert ["removed: check lint" in one for one in told] == [True, False, False, False]
    assert "removed: check lint" in human(gated.hook("on-stop", stdin=stop("s2")))


def test_stamps_hide_no_change(gated):
    """A branch that leaves its gates alone hears nothing about them, until they are taken away or switched off.

    They are missed at the very next stop, also while stops are answered from a stamp.
    """
    gated.stage.commit("fine.txt", "x\n", "Work")
    played = gated.hook("on-stop", stdin=STOP)
    assert (reply(played)["status"], human(played)) == ("passed", "")
    for session, weaken in {"s1": take_away, "s2": WEAKENED["switched off"][0]}.items():
        for _ in range(4):
            assert human(gated.hook("on-stop", stdin=stop(session))) == ""
            time.sleep(0.1)
        weaken(gated)
        assert "gate definitions on this branch: " in human(gated.hook("on-stop", stdin=stop(session)))
        gated.git("checkout", "-q", ".")


def test_moved_base_is_named(gated):
    """A base that somebody moved in this clone is named as such, at the stop and in the pull request."""
    gated.stage.commit("BROKEN", "x\n", "Break")
    gated.git("update-ref", "refs/remotes/origin/main", "HEAD")
    said = "the base origin/main was moved in this clone"
    assert said in human(gated.hook("on-stop", stdin=STOP))
    gated.hold(phase="ready_for_pr", summary="Try", branch=gated.git("branch", "--show-current"))
    gated.hook("on-stop", stdin=STOP)
    assert said in gated.pulls()[0]["body"]
    gated.git("fetch", "-q", "origin")
    assert said not in human(gated.hook("on-stop", stdin=stop("s3")))


class TestBranchOfSomebodyElse:
    """A branch that came from elsewhere runs the base's gates, not its own."""

    MARK = "command: touch PWNED\n"

    @pytest.fixture
    def theirs(self, theatre):
        """Push a branch whose gate runs its author's command and lets unfinished work pass."""
        add_gate(theatre)
        theatre.git("switch", "-q", "-c", "theirs")
        check(self.MARK)(theatre)
        theatre.git("add", "-A")
        theatre.stage.commit("BROKEN", "x\n", "Take the gate over")
        theatre.git("push", "-q", "origin", "theirs")
        theatre.git("switch", "-q", "main")
        theatre.git("branch", "-q", "-D", "theirs")
        return theatre

    WAYS: ClassVar = {
        "switched to": (("switch", "-q", "theirs"),),
        "created from": (("switch", "-q", "-c", "mine", "origin/theirs"),),
        "fetched": (("fetch", "-q", "origin", "theirs:theirs"), ("switch", "-q", "theirs")),
        "from FETCH_HEAD": (("fetch", "-q", "origin", "theirs"), ("switch", "-q", "-c", "pr", "FETCH_HEAD")),
        "detached": (("checkout", "-q", "--detach", "origin/theirs"),),
    }

    def test_gates_of_the_base_run(self, theirs):
        """However the branch came here, its author's command does not run, the base's gate does, and that is said."""
        for name, way in self.WAYS.items():
            for arguments in way:
                theirs.git(*arguments)
            played = theirs.hook("on-stop", stdin=stop(name))
            assert not (theirs.stage.root / "PWNED").exists(), name
            assert (reply(played)["decision"], reply(played)["status"]) == ("block", "failed"), name
            assert "the gate definitions of origin/main apply" in human(played), name
            assert "changed: check lint, command" in human(played), name
            self.left(theirs)

    def left(self, theirs):
        """Go back to main, and have no other branch here."""
        theirs.git("switch", "-q", "main")
        for branch in theirs.git("branch", "--format=%(refname:short)").split():
            if branch != "main":
                theirs.git("branch", "-q", "-D", branch)

    def test_branch_cannot_do_without_gates(self, theirs):
        """A branch from elsewhere that deleted its gates, or switched them off, is judged by the base's."""
        for name, weaken in {"deleted": delete, "switched off": WEAKENED["switched off"][0]}.items():
            theirs.git("switch", "-q", "--detach", "origin/theirs")
            weaken(theirs)
            theirs.git("commit", "-q", "-a", "-m", "Without gates")
            theirs.git("push", "-q", "origin", f"HEAD:refs/heads/{name.replace(' ', '-')}")
            self.left(theirs)
            theirs.git("switch", "-q", name.replace(" ", "-"))
            played = theirs.hook("on-stop", stdin=stop(name))
            assert (reply(played)["decision"], reply(played)["status"]) == ("block", "failed"), name
            self.left(theirs)

    def test_edits_made_here_count(self, theirs):
        """What is edited here and not committed is the user's own, on any branch; committed files beside it are not."""
        theirs.git("switch", "-q", "theirs")
        extra = GATE_CONFIG.replace("[lint]", "[lint, mine]")
        write_files(
            theirs.stage.root, {".gauntlet/config.yml": extra, ".gauntlet/checks/mine.yml": "command: touch MINE\n"}
        )
        theirs.hook("on-stop", stdin=STOP)
        assert (theirs.stage.root / "MINE").exists()
        assert not (theirs.stage.root / "PWNED").exists()

    def test_claimed_branch_counts_as_own(self, theirs):
        """Taking the task over makes the branch this clone's: its definitions run, with the changes said."""
        theirs.stage.command("claim", "42", "--branch", "theirs")
        assert theirs.git("branch", "--show-current") == "theirs"
        played = theirs.hook("on-stop", stdin=STOP)
        assert (theirs.stage.root / "PWNED").exists()
        assert "changed: check lint, command" in human(played)
