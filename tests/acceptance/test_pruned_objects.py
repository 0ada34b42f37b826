"""`git gc --prune=now` beside a command: it removes what was just written and no ref has yet."""

import os
import shutil
import subprocess
import sys

import pytest
from support.clones import BRANCH, ref, told, with_variables
from support.neighbours import age

HOOK_REF = "refs/agentsync/hooks/main/w1"
# Before `git {when}` it does something, until the marker is there: it is left by the first time, or by nobody.
WRAPPER = """#!/bin/sh
case " $* " in
  *" {when} "*)
    if [ ! -e {marker} ]; then
      {leave}
      {act}
    fi ;;
esac
exec {git} "$@"
"""


@pytest.fixture
def disturbed(theatre, tmp_path):
    """Return a function for the clone in which something happens before a git command, once or every time."""
    git, marker, folder = shutil.which("git"), tmp_path / "was-here", tmp_path / "bin"
    folder.mkdir()

    def prepared(when, act, *, is_once=True):
        marker.unlink(missing_ok=True)
        leave = f": > {marker}" if is_once else ":"
        (folder / "git").write_text(
            WRAPPER.format(when=when, marker=marker, leave=leave, act=act.format(git=git), git=git)
        )
        (folder / "git").chmod(0o755)
        return with_variables(theatre, PATH=f"{folder}:{os.environ['PATH']}")

    return prepared


GC = "{git} gc --quiet --prune=now"


def test_lease_that_was_pruned_before_its_push_is_written_again(theatre, disturbed):
    """Claim, push, handoff, renewal and sling work although `git gc` has removed what they are about to push."""
    theatre.git("config", "gc.auto", "0")
    played = disturbed("push", GC).stage.command("claim", "42")
    assert played.status == 0, told(played)
    theatre.stage.commit("a.txt", "a\n", "A")
    for command in (["push"], ["handoff", "--later", "--summary", "A"], ["worker", "sling", "43", "w1"]):
        before = ref(theatre)
        played = disturbed("push", GC).stage.command(*command)
        assert played.status == 0, told(played)
        assert (ref(theatre) != before) == (command[0] != "worker"), command
    assert ref(theatre, HOOK_REF)
    before = ref(theatre)
    age(theatre)
    renewal = [sys.executable, "-P", "-m", "agent_sync.events.parts.renewal_process", str(theatre.stage.root), "s"]
    subprocess.run(renewal, cwd="/", env=disturbed("push", GC).stage.environment, check=True)
    assert ref(theatre) not in {None, before}
    assert theatre.stage.claim()["lease"]["sha"] == ref(theatre)


def test_gc_that_does_not_end_is_named(theatre, disturbed):
    """Where objects are removed before every push, the cause is said with what helps, and that helps."""
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("a.txt", "a\n", "A")
    for command in (["push"], ["worker", "sling", "43", "w1"]):
        failed = disturbed("push", GC, is_once=False).stage.command(*command)
        assert failed.status, told(failed)
        assert "git gc may have removed an object that was to be pushed" in failed.stderr, failed.stderr
        assert "run the same command again" in failed.stderr, failed.stderr
        again = theatre.stage.command(*command)
        assert again.status == 0, told(again)


def test_ref_whose_commit_was_pruned_is_fetched_again(theatre, disturbed):
    """A hook whose commit vanishes between the fetch and the look is fetched once more."""
    assert theatre.stage.command("worker", "sling", "42", "w1").status == 0
    sha = ref(theatre, HOOK_REF)
    lost = theatre.stage.root / ".git" / "objects" / sha[:2] / sha[2:]
    assert lost.is_file()
    played = disturbed("for-each-ref", f"rm -f {lost}").stage.command("worker", "sling", "43", "w2")
    assert played.status == 0, told(played)


def test_lease_of_this_clone_is_written_again(theatre, disturbed):
    """The same holds for a claim that is kept in this clone only, whose ref is not pushed."""
    only_here = {"AGENT_SYNC_LEASE_WHERE": "clone"}
    assert with_variables(theatre, **only_here).stage.command("claim", "42").status == 0
    theatre.stage.commit("a.txt", "a\n", "A")
    played = with_variables(disturbed("update-ref", GC), **only_here).stage.command("push")
    assert played.status == 0, told(played)
    assert ref(theatre, f"refs/heads/{BRANCH}") == theatre.git("rev-parse", "HEAD")
