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
    """Give the project one gate on its main branch, and claim a task of it."""
    add_gate(theatre)
    theatre.stage.command("claim", "42")
    return theatre


def delete(theatre):
    theatre.git("rm", "-q", "-r", ".gauntlet")


def write(**files):
    return lambda theatre: write_files(
        theatre.stage.root, {name.replace("__", "/"): text for name, text in files.items()}
    )


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


@pytest.mark.parametrize(("weaken", "named"), WEAKENED.values(), ids=WEAKENED)
def test_weakened_gates_are_told_at_the_stop_and_in_the_pull_request(gated, weaken, named):
    """Whatever a branch does to its own gates is said by name to the human at the stop, and in the PR's Gates section."""
    weaken(gated)
    gated.git("add", "-A")
    gated.stage.commit("BROKEN", "x\n", "Break, and weaken the gates")
    assert named in human(gated.hook("on-stop", stdin=STOP))
    branch = gated.git("branch", "--show-current")
    gated.hold(phase="ready_for_pr", summary="Try", branch=branch)
    # The user's own word, so that every row opens its pull request.
    played = gated.hook("on-stop", stdin=STOP.replace("s1", "s2"), AGENT_SYNC_PR_REQUIRE_GATE="false")
    assert named in human(played)
    body = gated.pulls()[0]["body"]
    assert named in body[body.index("## Gates") :]


def test_untouched_gates_need_no_word(gated):
    """A branch that leaves its gates alone hears nothing about them."""
    gated.stage.commit("fine.txt", "x\n", "Work")
    played = gated.hook("on-stop", stdin=STOP)
    assert (reply(played)["status"], human(played)) == ("passed", "")


def test_stop_without_a_run_tells_each_session_once(gated):
    """Where no gate runs any more, a session hears why once, the next session again, and no stamp hides it."""
    delete(gated)
    gated.git("commit", "-q", "-m", "Delete the gates")
    told = [human(gated.hook("on-stop", stdin=STOP)) for _ in range(4)]
    assert ["removed: check lint" in one for one in told] == [True, False, False, False]
    assert "removed: check lint" in human(gated.hook("on-stop", stdin=STOP.replace("s1", "s2")))


@pytest.mark.parametrize("weaken", [lambda t: shutil.rmtree(t.stage.root / ".gauntlet"), WEAKENED["switched off"][0]])
def test_stamps_hide_no_change(gated, weaken):
    """Gates that are taken away while stops are answered from a stamp are missed at the very next stop."""
    gated.stage.commit("fine.txt", "x\n", "Work")
    for _ in range(4):
        assert human(gated.hook("on-stop", stdin=STOP)) == ""
        time.sleep(0.1)
    weaken(gated)
    assert "gate definitions on this branch: " in human(gated.hook("on-stop", stdin=STOP))


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
    assert said not in human(gated.hook("on-stop", stdin=STOP.replace("s1", "s3")))


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

    @pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
    def test_gates_of_the_base_run(self, theirs, way):
        """However the branch came here, its author's command does not run, the base's gate does, and that is said."""
        for arguments in way:
            theirs.git(*arguments)
        played = theirs.hook("on-stop", stdin=STOP)
        assert not (theirs.stage.root / "PWNED").exists()
        assert (reply(played)["decision"], reply(played)["status"]) == ("block", "failed")
        assert "the gate definitions of origin/main apply" in human(played)
        assert "changed: check lint, command" in human(played)

    @pytest.mark.parametrize("weaken", [delete, WEAKENED["switched off"][0]], ids=["deleted", "switched off"])
    def test_branch_cannot_do_without_gates(self, theirs, weaken):
        """A branch from elsewhere that deleted its gates, or switched them off, is judged by the base's."""
        theirs.git("switch", "-q", "theirs")
        weaken(theirs)
        theirs.git("commit", "-q", "-a", "-m", "Without gates")
        theirs.git("push", "-q", "origin", "theirs")
        theirs.git("switch", "-q", "main")
        theirs.git("branch", "-q", "-D", "theirs")
        theirs.git("switch", "-q", "theirs")
        played = theirs.hook("on-stop", stdin=STOP)
        assert (reply(played)["decision"], reply(played)["status"]) == ("block", "failed")

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
