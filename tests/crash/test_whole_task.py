"""A whole task with steps disturbed ends the same; `make prove` tries every point by itself, this a few together."""

import functools
import shutil
import tempfile
from pathlib import Path

import pytest
from prove.case import Verdict
from prove.disks import mounted, with_disk
from prove.families import FAMILIES
from support.clients import Nursery
from support.whole_task import LATER, STEPS, whole_task
from support.whole_world import Findings, findings

BY_NAME = {family.name: family for family in FAMILIES}
# Of the same step, what strikes early comes first: a later strike must still find something to do.
TOGETHER = (
    ("disks-task", "stop/clone/full"),
    ("disks-task", "handoff/clone/full"),
    ("kill-git", "handoff/4/after"),
    ("kill-request", "open/2/after"),
    ("kill-write", "close/fsync/2"),
    ("faults", "close/3/drop_after_apply"),
    ("kill-write", "close/rename/17"),
)
BY_ITSELF = ("disks-task", "close/home/gone")


@pytest.fixture(scope="module")
def nursery():
    """Start the process that clients come from."""
    found = Nursery()
    yield found
    found.close()


def perform(play, sample):
    """Play the task; a step goes wrong in each way of the sample, in another session each time, before it goes well."""
    cases = [(family, name, BY_NAME[family].case(name).run.keywords) for family, name in sample]
    for step in STEPS:
        play.prepare(step)
        for family, name, how in cases:
            if how["step"] == step.name:
                disturb = how.get("disturb") or functools.partial(with_disk, place=how["place"], trouble=how["trouble"])
                assert disturb(play, step), f"{family} {name} was not reached; last was said: {play.told[-1]}"
                play.begin_again()
        play.run(step)
    for step in LATER:
        play.run(step)


def test_task_disturbed_on_its_way_ends_the_same(nursery):
    """Kills, faults and failing disks on the way: later events bring the task to its end, with nothing gone or twice.

    The look at the world that tells so names what is gone and what is there twice.
    """
    unable = {} if shutil.which("strace") else {"kill-write": "strace is not installed"}
    with tempfile.TemporaryDirectory(prefix="agent-sync-prove-") as name, mounted(Path(name)) as refused:
        if refused:
            unable["disks-task"] = f"disks cannot be mounted here: {refused}"
        with whole_task(nursery, Path(name) / "disks") as play:
            perform(play, [one for one in TOGETHER if one[0] not in unable])
            assert findings(play) == Findings()
            check_losses_are_noticed(play)
    if unable:
        pytest.skip("; ".join(unable.values()))


def check_losses_are_noticed(play):
    """Spoil what a task has left, and hear each loss named."""
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


def test_single_case_survives(nursery):
    """A case by its name plays the task with one step disturbed, and judges the world that is left."""
    family, name = BY_ITSELF
    ending = BY_NAME[family].case(name).run(nursery)
    if ending.verdict is Verdict.SKIPPED:
        pytest.skip(ending.said)
    assert (ending.verdict, ending.said) == (Verdict.SURVIVED, "")
