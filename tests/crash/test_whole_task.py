"""A whole task with one step disturbed ends the same; `make prove` tries every point, this a few."""

import shutil

import pytest
from prove.case import Verdict
from prove.families import FAMILIES
from support.clients import Nursery
from support.whole_task import whole_task
from support.whole_world import findings

BY_NAME = {family.name: family for family in FAMILIES}
SAMPLE = (
    ("kill-request", "open/2/after"),
    ("kill-git", "handoff/4/after"),
    ("kill-write", "close/fsync/2"),
    ("kill-write", "close/rename/17"),
    ("faults", "close/3/drop_after_apply"),
    ("disks-task", "handoff/clone/full"),
    ("disks-task", "stop/clone/full"),
    ("disks-task", "close/home/gone"),
)


@pytest.fixture(scope="module")
def nursery():
    """Start the process that clients come from."""
    found = Nursery()
    yield found
    found.close()


@pytest.mark.parametrize(("family", "name"), SAMPLE, ids=lambda value: value)
def test_disturbed_task_ends_the_same(nursery, family, name):
    """Whatever step goes wrong in whatever way: later events bring the task to its end, with nothing gone or twice."""
    if family == "kill-write" and not shutil.which("strace"):
        pytest.skip("strace is not installed: commands are not killed at their writes")
    ending = BY_NAME[family].case(name).run(nursery)
    if family == "disks-task" and ending.verdict is Verdict.SKIPPED:
        pytest.skip(ending.said)
    assert (ending.verdict, ending.said) == (Verdict.SURVIVED, "")


def test_losses_are_noticed(nursery):
    """The look at the world after a task names what is gone and what is there twice."""
    with whole_task(nursery) as play:
        play.perform()
        assert findings(play) == type(findings(play))()
        play.stage.act("comment", issue=42, body="Completed in #45")
        play.stage.act("reopen_issue", issue=42)
        play.theatre.git("branch", "-f", "mine", "main")
        play.theatre.git("stash", "drop", "-q")
        (play.stage.root / "notes.txt").write_text("")
        (play.stage.root / ".git" / "agentsync" / "left.tmp").touch()
        next(play.home.rglob("hook.json")).write_bytes(b"{}")
        play.told.clear()
        found = findings(play)
    assert found.duplicated == ["2 closing comment"]
    said = "; ".join(found.lost)
    wanted = (
        "issue is open",
        "ignored file",
        "branch has moved",
        "no stash",
        "temporaries",
        "record",
        "nobody was told",
    )
    for words in wanted:
        assert words in said
