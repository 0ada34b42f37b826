"""The claim file gets into no commit, and a branch that has it gets nowhere."""

import json
from pathlib import Path

import pytest

from agent_sync.task.claim.exclude import keep_out
from agent_sync.worktree import worktree

NAME = ".agent-claim.json"
BRANCH = "claude/fix-race-condition-in-cache-42"


@pytest.fixture
def fresh(theatre):
    """Stand in a clone in which `init` was never run and git ignores nothing."""
    exclude(theatre).write_text("# mine\n*.swp")
    return theatre


def exclude(theatre):
    """Return the file in which a clone keeps what it ignores."""
    return theatre.stage.root / ".git" / "info" / "exclude"


def committed(theatre, root=None):
    """Commit everything there is, as agents do, and list what the commit has."""
    where = ["-C", str(root)] if root else []
    theatre.git(*where, "add", "-A")
    theatre.git(*where, "commit", "-q", "--allow-empty", "-m", "All")
    return theatre.git(*where, "ls-tree", "-r", "--name-only", "HEAD").split("\n")


def test_claim_keeps_itself_out_of_commits(fresh):
    """After a claim `git add -A` takes everything but the claim file, in linked worktrees too; the rest stays."""
    fresh.stage.command("claim", "42")
    (fresh.stage.root / "work.txt").write_text("x")
    (fresh.stage.root / f"{NAME}.1.tmp").write_text("x")
    assert [name for name in committed(fresh) if "claim" in name or "work" in name] == ["work.txt"]
    beside = json.loads(fresh.stage.command("claim", "43", "--worktree", "--json").stdout)["root"]
    assert NAME not in committed(fresh, beside)
    assert exclude(fresh).read_text() == f"# agent-sync: claims are never committed\n/{NAME}*\n# mine\n*.swp"


def test_line_is_made_where_there_is_no_file_and_taken_out_again(fresh):
    """A missing file is made, from a linked worktree too, and `uninstall` leaves exactly what was there before."""
    exclude(fresh).unlink()
    exclude(fresh).parent.rmdir()
    beside = json.loads(fresh.stage.command("claim", "43", "--worktree", "--json").stdout)["root"]
    assert exclude(fresh).exists()
    fresh.git("-C", beside, "status")
    assert fresh.stage.command("uninstall", "--yes").status == 0
    assert not exclude(fresh).exists()


CONTENTS = (b"# mine\n*.swp", b"a\r\nb\r\n", b"\xef\xbb\xbfa\n\xff\n", b"\n\n")


def test_uninstall_takes_out_exactly_the_line(fresh):
    """Whatever else the file holds stays byte for byte, and a line of the user's own is not ours."""
    own = f"/{NAME}*\n".encode()
    for content in (*CONTENTS, *(before + own for before in CONTENTS if before.endswith(b"\n"))):
        exclude(fresh).write_bytes(content)
        if content == CONTENTS[0]:
            fresh.stage.command("claim", "42")
            fresh.stage.command("release")
        else:
            assert keep_out(worktree(str(fresh.stage.root))) == ""
        assert (exclude(fresh).read_bytes() == content) == content.endswith(own), content
        played = fresh.stage.command("uninstall", "--yes")
        assert (played.status, exclude(fresh).read_bytes()) == (0, content), played.stderr


def test_claim_goes_on_where_the_line_cannot_be_written(fresh, tmp_path):
    """A file that is a link is the user's own affair: it stays, the claim stands, and a warning says so."""
    target = tmp_path / "exclude"
    target.write_text("*.swp\n")
    exclude(fresh).unlink()
    exclude(fresh).symlink_to(target)
    played = fresh.stage.command("claim", "42")
    assert (played.status, f"git does not ignore {NAME}" in played.stderr) == (0, True), played.stderr
    assert "symbolic link" in played.stderr
    assert (target.read_text(), exclude(fresh).is_symlink()) == ("*.swp\n", True)
    removed = fresh.stage.command("uninstall", "--yes")
    assert (removed.status, target.read_text()) == (0, "*.swp\n")


def test_claim_goes_on_where_there_is_no_room_for_the_file(fresh):
    """Where the directory is none the claim stands, and a warning says so."""
    exclude(fresh).unlink()
    exclude(fresh).parent.rmdir()
    exclude(fresh).parent.write_text("")
    played = fresh.stage.command("claim", "42")
    assert (played.status, "info/exclude was not written" in played.stderr) == (0, True), played.stderr


def test_ignore_file_that_takes_the_claim_in_again_is_told(fresh):
    """A .gitignore of the branch has more weight than the clone's own file, so a person is warned."""
    fresh.stage.commit(".gitignore", f"!{NAME}\n", "Take it in")
    fresh.git("push", "-q", "origin", "main")
    assert "a .gitignore takes it in again" in fresh.stage.command("claim", "42").stderr


def with_claim_committed(theatre, branch=BRANCH):
    """Let a branch have the claim file in its newest commit."""
    theatre.git("switch", "-q", "-c", branch)
    theatre.stage.commit("a.txt", "a\n", "A")
    (theatre.stage.root / NAME).write_text("{}")
    theatre.git("add", "-f", NAME)
    theatre.git("commit", "-q", "-m", "Oops")
    theatre.git("push", "-q", "origin", branch)
    theatre.git("switch", "-q", "main")


def test_main_that_has_the_file_is_named(fresh):
    """Where new branches begin at a commit with the file, that branch is named."""
    fresh.stage.commit(NAME, "{}", "Oops")
    fresh.git("push", "-q", "origin", "main")
    fresh.git("switch", "-q", "--detach", "HEAD~1")
    played = fresh.stage.command("claim", "42")
    assert (played.status, "branch main contains it" in played.stderr) == (1, True), played.stderr
    assert refs_of_claims(fresh) == ""


def refs_of_claims(theatre):
    """List the leases on the remote."""
    return theatre.git("ls-remote", "origin", "refs/agentsync/*")


def test_claim_of_a_branch_that_has_the_file_is_refused_before_the_lease(fresh):
    """Nothing is taken, switched or written where the branch would bring a claim file of its own."""
    with_claim_committed(fresh)
    world = fresh.stage.world()
    for arguments in (("42",), ("42", "--worktree"), ("43",)):
        played = fresh.stage.command("claim", *arguments, "--branch", BRANCH)
        assert (played.status, "error[claim-unsafe]" in played.stderr) == (1, True), (arguments, played.stderr)
        assert f"git switch {BRANCH}" in played.stderr, arguments
        assert (refs_of_claims(fresh), fresh.git("branch", "--show-current")) == ("", "main"), arguments
        assert world == fresh.stage.world(), arguments
        assert not Path(f"{fresh.stage.root}-42").exists(), arguments


def test_branch_that_has_the_file_is_not_handed_off(fresh):
    """`handoff` and `push` refuse a branch whose newest commit has the claim file, and pushing it is on nobody's record."""
    fresh.stage.command("claim", "42")
    fresh.stage.commit("a.txt", "a\n", "A")
    fresh.git("add", "-f", NAME)
    fresh.git("commit", "-q", "-m", "Oops")
    remote = fresh.git("ls-remote", "origin")
    commands = (("handoff", "--summary", "x", "--dry-run"), ("push",), ("handoff", "--summary", "x"))
    for arguments in commands:
        played = fresh.stage.command(*arguments)
        assert (played.status, "error[claim-unsafe]" in played.stderr) == (1, True), (arguments, played.stderr)
    fresh.git("rm", "-q", "--cached", NAME)
    fresh.git("commit", "-q", "-m", "Take it out")
    assert remote == fresh.git("ls-remote", "origin")
    for arguments in commands:
        assert fresh.stage.command(*arguments).status == 0, arguments


def test_branch_that_is_not_checked_out_is_looked_at_too(fresh):
    """From another branch `push` and a stop refuse in the same way, and no pull request is opened."""
    with_claim_committed(fresh, "claude/test")
    fresh.hold(phase="ready_for_pr", summary="x")
    assert "error[claim-unsafe]" in fresh.stage.command("push").stderr
    assert "branch claude/test contains it" in fresh.hook("on-stop").stdout
    assert fresh.pulls() == []
