"""A sandbox whose git may push the working branch only: claims go through GitHub's interface, to the same refs."""

import pytest
from support.clones import beside

CLAIM_REF = "refs/agentsync/claims/42"


def sha(theatre, name=CLAIM_REF):
    """Return where a ref of the local GitHub is."""
    return next((ref["sha"] for ref in theatre.stage.world()["refs"] if ref["name"] == name), None)


@pytest.fixture
def fenced(theatre):
    """Return a clone whose git may push branches only."""
    theatre.stage.act("push_only", patterns=["refs/heads/*"])
    return theatre


def test_claim_goes_through_the_interface_and_holds_for_all(fenced):
    """A claim, its renewal with the branch, and its end: each a compare-and-swap of the interface; nothing is deleted."""
    other = beside(fenced, "other")
    played = fenced.stage.command("claim", "42")
    assert (played.status, "holds for everyone who uses origin" in played.stdout) == (0, True), played.stderr
    assert "UpdateRefs" in fenced.operations()
    first = sha(fenced)
    assert other.stage.command("claim", "42").status == 3
    fenced.stage.commit("work.txt", "work\n", "Work")
    assert fenced.stage.command("push").status == 0
    assert sha(fenced) not in {None, first}
    branch = fenced.stage.claim()["branch"]
    assert sha(fenced, f"refs/heads/{branch}") == fenced.git("rev-parse", "HEAD")
    assert fenced.stage.command("release").status == 0
    assert sha(fenced)
    assert other.stage.command("claim", "42").status == 0


def test_git_and_interface_share_one_ref(theatre):
    """Whoever may push by git and whoever may not see each other's claims."""
    other = beside(theatre, "other")
    theatre.stage.act("push_only", patterns=["refs/heads/*"])
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.act("push_only", patterns=["*"])
    assert other.stage.command("claim", "42").status == 3
    assert other.stage.command("claim", "43").status == 0
    theatre.stage.act("push_only", patterns=["refs/heads/*"])
    listed = theatre.stage.command("status", "--all").stdout
    assert ("#42" in listed, "#43" in listed) == (True, True)


def test_lost_answer_is_settled_by_reading(fenced):
    """A mutation whose answer is lost is looked for in the ref: it was ours, and the claim stands."""
    fenced.fault("drop_after_apply", operation="UpdateRefs")
    played = fenced.stage.command("claim", "42")
    assert played.status == 0, played.stderr
    assert fenced.stage.claim()["lease"]["epoch"] == 1


def test_rule_is_named_with_what_the_server_says(theatre):
    """A rule against the branch is shown with its name and the address that unblocks it."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("work.txt", "work\n", "Work")
    theatre.stage.act("refuse_refs", pattern="refs/heads/*")
    played = theatre.stage.command("push")
    assert played.status == 1
    assert [word for word in ("a repository rule", "GH013") if word not in played.stderr] == [], played.stderr


def test_two_refs_in_a_push_are_enough_to_leave_work(theatre):
    """Under a policy of two refs a push, rescue and branch go first, then hook and claim."""
    assert theatre.stage.command("worker", "sling", "42", "w1").status == 0
    assert theatre.stage.command("worker", "take", "--worker", "w1").status == 0
    theatre.stage.commit("work.txt", "work\n", "Work")
    (theatre.stage.root / "more.txt").write_text("not committed\n")
    theatre.stage.act("push_limit", refs=2)
    played = theatre.stage.command("worker", "pause", "--worker", "w1")
    assert played.status == 0, played.stderr
    names = {ref["name"] for ref in theatre.stage.world()["refs"]}
    assert any(name.startswith("refs/agentsync/rescue/") for name in names)
    assert any(name.startswith("refs/heads/claude/") for name in names)


@pytest.fixture
def paused(fenced):
    """Return a fenced clone in which a worker has taken work and has committed some of it."""
    assert fenced.stage.command("worker", "sling", "42", "w1").status == 0
    assert fenced.stage.command("worker", "take", "--worker", "w1").status == 0
    fenced.stage.commit("work.txt", "work\n", "Work")
    return fenced


def test_pause_saves_what_is_not_committed_through_the_interface(paused):
    """Changed, new, binary, deleted and executable files are in the rescue ref on GitHub, byte for byte."""
    root = paused.stage.root
    (root / "notes").mkdir()
    (root / "notes" / "new.txt").write_text("not committed ü\n")
    (root / "image.bin").write_bytes(bytes(range(256)))
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "work.txt").write_text("changed\n")
    (root / "README.md").unlink()
    played = paused.stage.command("worker", "pause", "--worker", "w1")
    assert played.status == 0, played.stderr
    (name,) = (ref["name"] for ref in paused.stage.world()["refs"] if "/rescue/" in ref["name"])
    elsewhere = beside(paused, "elsewhere")
    elsewhere.git("fetch", "-q", "origin", name)
    assert elsewhere.git("show", "FETCH_HEAD:notes/new.txt") == "not committed ü"
    assert elsewhere.git("show", "FETCH_HEAD:work.txt") == "changed"
    assert elsewhere.git("rev-parse", "FETCH_HEAD:image.bin") == paused.git("hash-object", "image.bin")
    listed = elsewhere.git("ls-tree", "FETCH_HEAD")
    assert ("100755 blob" in listed, "README.md" in listed, ".agent-claim.json" in listed) == (True, False, False)
    assert sha(paused, name) in paused.stage.command("worker", "show", "w1", "--json").stdout
    again = paused.stage.command("worker", "pause", "--worker", "w1")
    assert again.status == 0, again.stderr


def test_pause_says_plainly_what_is_too_much_for_the_interface(paused):
    """Beyond the bound nothing is half saved: the command says what to commit, and the session must not end."""
    for number in range(101):
        (paused.stage.root / f"file-{number}.txt").write_text("x\n")
    before = sha(paused)
    played = paused.stage.command("worker", "pause", "--worker", "w1")
    assert played.status != 0
    wanted = ("102 files", "git commit", "Do not end the session")
    assert [word for word in wanted if word not in played.stderr] == [], played.stderr
    assert sha(paused) == before
