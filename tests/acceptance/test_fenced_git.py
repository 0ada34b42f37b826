"""A sandbox whose git may push the working branch only: claims go through GitHub's interface, to the same refs."""

import pytest
from support.clones import beside

CLAIM_REF, HOOK_REF = "refs/agentsync/claims/42", "refs/agentsync/hooks/main/w1"


def sha(theatre, name=CLAIM_REF):
    """Return where a ref of the local GitHub is."""
    return next((ref["sha"] for ref in theatre.stage.world()["refs"] if ref["name"] == name), None)


@pytest.fixture
def fenced(theatre):
    """Return a clone whose git may push branches only."""
    theatre.stage.act("push_only", patterns=["refs/heads/*"])
    return theatre


def test_claim_goes_through_the_interface_and_holds_for_all(fenced):
    """A claim, its renewal with the branch, and its end: each a compare-and-swap of the interface; nothing is deleted.

    Whoever may push by git and whoever may not see each other's claims: both use one ref.
    """
    other = beside(fenced, "other")
    played = fenced.stage.command("claim", "42")
    assert (played.status, "holds for everyone who uses origin" in played.stdout) == (0, True), played.stderr
    assert "UpdateRefs" in fenced.operations()
    first = sha(fenced)
    assert other.stage.command("claim", "42").status == 3
    by_git = beside(fenced, "by-git")
    fenced.stage.act("push_only", patterns=["*"])
    assert by_git.stage.command("claim", "42").status == 3
    assert by_git.stage.command("claim", "43").status == 0
    assert "UpdateRefs" not in by_git.operations()
    fenced.stage.act("push_only", patterns=["refs/heads/*"])
    listed = fenced.stage.command("status", "--all").stdout
    assert ("#42" in listed, "#43" in listed) == (True, True)
    fenced.stage.commit("work.txt", "work\n", "Work")
    assert fenced.stage.command("push").status == 0
    assert sha(fenced) not in {None, first}
    branch = fenced.stage.claim()["branch"]
    assert sha(fenced, f"refs/heads/{branch}") == fenced.git("rev-parse", "HEAD")
    assert fenced.stage.command("release").status == 0
    assert sha(fenced)
    assert other.stage.command("claim", "42").status == 0


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


def test_work_on_a_hook_goes_through_the_interface(fenced):
    """Hook and claim of work that is slung and taken, and what is not committed when it is paused.

    Changed, new, binary, deleted and executable files are in the rescue ref on GitHub, byte for byte. Beyond the bound
    nothing is half saved: the command says what to commit, and the session must not end.
    """
    assert "Slung issue-42" in fenced.stage.command("worker", "sling", "42", "w1").stdout
    assert {ref["name"] for ref in fenced.stage.world()["refs"] if "agentsync" in ref["name"]} == {HOOK_REF, CLAIM_REF}
    assert "Started issue-42" in fenced.stage.command("worker", "take", "--worker", "w1").stdout
    fenced.stage.commit("work.txt", "work\n", "Work")
    root = fenced.stage.root
    many = [root / f"file-{number}.txt" for number in range(101)]
    for file in many:
        file.write_text("x\n")
    before = sha(fenced)
    refused = fenced.stage.command("worker", "pause", "--worker", "w1")
    assert refused.status != 0
    wanted = ("102 files", "git commit", "Do not end the session")
    assert [word for word in wanted if word not in refused.stderr] == [], refused.stderr
    assert sha(fenced) == before
    for file in many:
        file.unlink()
    (root / "notes").mkdir()
    (root / "notes" / "new.txt").write_text("not committed ü\n")
    (root / "image.bin").write_bytes(bytes(range(256)))
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "work.txt").write_text("changed\n")
    (root / "README.md").unlink()
    played = fenced.stage.command("worker", "pause", "--worker", "w1")
    assert played.status == 0, played.stderr
    (name,) = (ref["name"] for ref in fenced.stage.world()["refs"] if "/rescue/" in ref["name"])
    elsewhere = beside(fenced, "elsewhere")
    elsewhere.git("fetch", "-q", "origin", name)
    assert elsewhere.git("show", "FETCH_HEAD:notes/new.txt") == "not committed ü"
    assert elsewhere.git("show", "FETCH_HEAD:work.txt") == "changed"
    assert elsewhere.git("rev-parse", "FETCH_HEAD:image.bin") == fenced.git("hash-object", "image.bin")
    listed = elsewhere.git("ls-tree", "FETCH_HEAD")
    assert ("100755 blob" in listed, "README.md" in listed, ".agent-claim.json" in listed) == (True, False, False)
    assert sha(fenced, name) in fenced.stage.command("worker", "show", "w1", "--json").stdout
    again = fenced.stage.command("worker", "pause", "--worker", "w1")
    assert again.status == 0, again.stderr
