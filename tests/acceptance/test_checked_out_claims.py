"""A claim file that came with a checkout is somebody else's word: nothing is done for it."""

import json
from pathlib import Path

import pytest
from support.prove import PROVE
from support.stage import human, reply

NAME = ".agent-claim.json"
HOOKS = ("session-start", "on-prompt", "on-tool", "on-stop", "on-idle")
COMMANDS = (
    ("status",),
    ("status", "--all"),
    ("sync",),
    ("push",),
    ("handoff", "--summary", "x"),
    ("done", "--yes"),
    ("done", "--yes", "--now"),
    ("release",),
    ("release", "--force"),
    ("claim", "42"),
)
ACTING = (("sync",), ("done", "--yes", "--now"), ("release", "--force"))
LEASE = {"where": "clone", "epoch": 1, "nonce": "n", "renewed_at": "2020-01-01T00:00:00Z", "ttl_s": 60, "mode": "auto"}
PHASES = {
    "done": {"phase": "done", "close_unmerged": True},
    "ready_for_pr": {"phase": "ready_for_pr", "summary": "Closes #40 @mona fixes #41 <img src=x>"},
    "checks_running": {"phase": "checks_running", "pr_number": 45, "status": "Done"},
    "merged_detected": {"phase": "merged_detected", "status": "Done"},
    "unmirrored": {"is_unmirrored": True, "status": "Done"},
    "leased": {"phase": "pr_created", "status": "Done", "lease": LEASE},
}


@pytest.fixture
def visitor(theatre):
    """Stand in a clone that has the branch of a stranger checked out; what it carries is up to the test."""
    theatre.work("contrib/feature")
    return theatre


def brought(theatre, **fields):
    """Let the stranger's branch carry a claim file, and return its bytes as they were checked out."""
    theatre.hold(**{"issue_number": 43, "branch": "contrib/feature", **fields})
    theatre.git("add", "-f", NAME)
    theatre.git("commit", "-q", "-m", "Add a feature")
    theatre.git("push", "-q", "origin", "contrib/feature")
    theatre.git("switch", "-q", "main")
    theatre.git("switch", "-q", "contrib/feature")
    return (theatre.stage.root / NAME).read_bytes()


def asked(theatre):
    """Return what the last command asked of GitHub, and whether it pushed anything."""
    journal = theatre.stage.control("GET", "requests?git=1")
    return [entry for entry in journal if "upload-pack" not in f"{entry}"]


def traces(theatre):
    """Return everything in the home, where agent-sync could have written."""
    home = Path(theatre.stage.environment["HOME"])
    return {path: path.read_bytes() if path.is_file() else None for path in home.rglob("*")}


@pytest.mark.parametrize("names", [[name] for name in PHASES] if PROVE else [list(PHASES)], ids=" ".join)
def test_tracked_claim_is_refused_everywhere(visitor, names):
    """Every hook and command names the file and the way out, and neither GitHub, nor the file, nor the home changes."""
    for name in names:
        content = brought(visitor, **PHASES[name])
        before = (visitor.stage.world(), traces(visitor), visitor.git("for-each-ref"))
        # The long sweep plays everything in every phase; here the first one meets all, the others what would act.
        is_whole = name == names[0]
        hooks_are_silent(visitor, name, HOOKS if is_whole else ("on-stop", "on-idle"))
        commands_refuse(visitor, COMMANDS if is_whole else ACTING)
        visitor.stage.command("statusline", stdin="{}")
        assert content == (visitor.stage.root / NAME).read_bytes(), name
        assert before == (visitor.stage.world(), traces(visitor), visitor.git("for-each-ref")), name


def hooks_are_silent(visitor, session_id, hooks):
    """Play hooks of one session: they ask nothing, take nothing for held, and name the file once in all."""
    said = ""
    for hook in hooks:
        played = visitor.hook(
            hook, stdin=json.dumps({"session_id": session_id, "cwd": str(visitor.stage.root), "prompt": "Hi"})
        )
        assert (played.status, asked(visitor)) == (0, []), hook
        assert "holds issue" not in json.dumps(reply(played))
        said += human(played)
    assert said.count("git tracks it") == 1
    assert visitor.hook("on-idle", "--rewake").stderr == ""


def commands_refuse(visitor, commands):
    """Play commands: each names the file, and asks nothing for it."""
    for arguments in commands:
        played = visitor.stage.command(*arguments)
        # The fleet's lane of what is ready comes from the board; for the refused claim nothing is asked.
        wanted = ["Board"] if "--all" in arguments else []
        assert [entry["operation"] for entry in asked(visitor)] == wanted, arguments
        assert (played.stderr + played.stdout).count("git tracks it") == 1, (arguments, played)
        assert played.status == (0 if "--all" in arguments else 1), (arguments, played)


def test_any_hook_says_why_and_the_way_out(visitor):
    """Whichever hook comes first in a session tells the human once; what follows in the session is silent."""
    brought(visitor, phase="done")
    for hook in ("session-start", "on-prompt", "on-stop", "on-idle"):
        event = json.dumps({"session_id": hook, "cwd": str(visitor.stage.root)})
        assert human(visitor.hook(hook, stdin=event)) == (
            "agent-sync: .agent-claim.json is refused: git tracks it, so it may be anybody's. Nothing was done for it. "
            "Try: git rm .agent-claim.json and git commit; with --cached to keep a file that you wrote yourself"
        ), hook
        assert visitor.hook(hook, stdin=event).stdout == "", hook


def test_index_or_head_is_enough(visitor):
    """A file that is only added, or only taken out of the index, is tracked; once that is committed it is the user's."""
    visitor.hold(phase="done")
    visitor.git("add", "-f", NAME)
    assert "git tracks it" in human(visitor.hook("on-stop", stdin='{"session_id": "index"}'))
    visitor.git("rm", "-q", "--cached", NAME)
    assert visitor.stage.command("status").status == 0
    visitor.git("add", "-f", NAME)
    visitor.git("commit", "-q", "-m", "Add it")
    visitor.git("rm", "-q", "--cached", NAME)
    assert "git tracks it" in human(visitor.hook("on-stop", stdin='{"session_id": "HEAD"}'))
    visitor.git("commit", "-q", "-m", "Take it out")
    assert visitor.stage.command("status").status == 0


def test_switch_to_such_a_branch_is_noticed_in_the_middle_of_a_task(visitor):
    """A claim that a switch has overwritten with the branch's own is refused; the lease and the record stay as they are."""
    brought(visitor, phase="done", issue_number=43)
    visitor.git("switch", "-q", "main")
    visitor.stage.command("claim", "42")
    own = visitor.git("branch", "--show-current")
    visitor.git("switch", "-q", "contrib/feature")
    home, remote = traces(visitor), visitor.git("ls-remote", "origin")
    for hook in HOOKS:
        visitor.hook(hook)
    assert (home, remote) == (traces(visitor), visitor.git("ls-remote", "origin"))
    assert visitor.issue(43)["state"] == "open"
    visitor.git("switch", "-q", own)
    assert "Restored the claim of issue #42" in visitor.stage.command("claim", "42").stdout


def test_one_refused_worktree_keeps_no_other_from_claiming(visitor):
    """A file that is not the user's own holds nothing: a claim beside it goes on, and the fleet names it."""
    brought(visitor, phase="done", issue_number=42)
    played = visitor.stage.command("claim", "42", "--worktree")
    assert played.status == 0, played.stderr
    assert "git tracks it" in visitor.stage.command("status", "--all").stdout


def test_file_is_no_consent(visitor):
    """What stands in the file alone closes no unmerged issue; a human's `done --yes` does."""
    visitor.hold(phase="done", close_unmerged=True)
    assert "not closed: there is no merged PR" in human(visitor.hook("on-stop"))
    assert visitor.issue()["state"] == "open"
    visitor.stage.command("done", "--later", "--yes")
    assert "Issue #42 closed." in human(visitor.hook("on-stop"))


def test_untracked_claim_is_the_users_own(visitor):
    """A file that nobody committed works as documented, whether git ignores it or not."""
    (visitor.stage.root / ".git" / "info" / "exclude").write_text("")
    visitor.hold(phase="ready_for_pr", summary="Mine", branch="contrib/feature")
    assert "PR #45 created" in human(visitor.hook("on-stop"))
