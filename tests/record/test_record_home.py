"""Where records live, what they are called, and which one a worktree works on."""

import json
import os
import stat
import subprocess
import sys

import pytest
from support.stored_records import LATER, NOW, begun_record

from agent_sync.errors import BadConfig, BadInput, BadRecord, RecordUnavailable
from agent_sync.record.disk.beginning import begin_record, issue_task, text_task
from agent_sync.record.disk.ending import made_up_for
from agent_sync.record.disk.recorder import (
    Home,
    active_record,
    atlas_home,
    is_pointed,
    point,
    slug,
    unpoint,
    workspace_of,
)
from agent_sync.record.disk.store import OpenRecord
from agent_sync.record.machine.machine import with_move
from agent_sync.record.machine.states import RecordMove
from agent_sync.worktree import worktree

HOMES = {
    "the user's": ({"HOME": "/home/u"}, "/home/u/.atlas"),
    "named": ({"HOME": "/home/u", "ATLAS_HOME": "/data/atlas"}, "/data/atlas"),
    "named with a tilde": ({"HOME": "/home/u", "ATLAS_HOME": "~/x"}, "/home/u/x"),
    "named as nothing": ({"HOME": "/home/u", "ATLAS_HOME": ""}, "/home/u/.atlas"),
}


@pytest.mark.parametrize(("environment", "root"), HOMES.values(), ids=HOMES)
def test_home(environment, root):
    """ATLAS_HOME names the home, else it is `.atlas` in the user's own."""
    assert str(atlas_home(environment)) == root


@pytest.mark.parametrize("environment", [{}, {"HOME": "/h", "ATLAS_HOME": "x"}], ids=["nothing", "relative"])
def test_home_must_be_known(environment):
    """A home that would depend on the directory one is in is refused."""
    with pytest.raises(BadConfig, match="absolute"):
        atlas_home(environment)


SLUGS = {
    "words": ("Fix null pointer in config!", "fix-null-pointer-in-config"),
    "accents": ("Überprüfe façade", "uberprufe-facade"),
    "nothing left": ("修复", ""),
    "long": ("a" * 30 + " " + "b" * 40, "a" * 30),
    "one long word": ("a" * 90, "a" * 60),
    "just fits": ("a" * 30 + " " + "b" * 29, "a" * 30 + "-" + "b" * 29),
}


@pytest.mark.parametrize(("text", "expected"), SLUGS.values(), ids=SLUGS)
def test_slug(text, expected):
    """A name holds letters, digits and hyphens, at most sixty, cut between words."""
    assert slug(text) == expected


def test_task_ids():
    """Issues and words have names of their own kind."""
    assert (issue_task(42), text_task("Fix it"), text_task("修复")) == ("issue-42", "fix-it", "task")


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "atlas")


def begin(home, workspace="demo-123456", wanted="issue-42", **fields):
    return begin_record(
        home,
        workspace,
        wanted,
        lambda task_id, index: begun_record(task_id=task_id, task_index=index, workspace=workspace, **fields),
    )


def test_worktrees_share_a_workspace(repo, tmp_path):
    """All worktrees of a clone have one workspace, named after the main one; another clone has another."""
    subprocess.run(["git", "worktree", "add", "-q", tmp_path / "other", "-b", "x"], cwd=repo, check=True)
    subprocess.run(["git", "clone", "-q", repo, tmp_path / "twin" / "repo"], cwd=tmp_path, check=True)
    subprocess.run(["git", "clone", "-q", "--bare", repo, tmp_path / "Bare.git"], cwd=tmp_path, check=True)
    subprocess.run(["git", "worktree", "add", "-q", tmp_path / "third"], cwd=tmp_path / "Bare.git", check=True)
    main, other, twin, third = (
        workspace_of(worktree(str(tmp_path / name))) for name in ("repo", "other", "twin/repo", "third")
    )
    assert main == other
    assert main != twin
    assert [name[:-7] for name in (main, twin, third)] == ["repo", "repo", "bare"]


def test_tasks_are_numbered(home):
    """The index counts from nought over all workspaces, and a name that is taken gets a number."""
    found = [begin(home)[1], begin(home, "other-123456")[1], begin(home)[1], begin(home)[1]]
    assert [record.task_index for record in found] == [0, 1, 2, 3]
    assert [record.task_id for record in found] == ["issue-42", "issue-42", "issue-42-2", "issue-42-3"]
    assert home.workspaces() == ["demo-123456", "other-123456"]
    assert home.tasks("demo-123456") == ["issue-42", "issue-42-2", "issue-42-3"]
    assert home.store("demo-123456", "issue-42-2").read() == found[2]
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [None, b"", b"{}", b"\0\0", b'{"next": "x"}', b'{"next": -4}'])
def test_lost_index_is_found_in_the_records(home, damage):
    """An index file that is gone or damaged is counted anew from the records, past one that cannot be read."""
    for _ in range(3):
        store, _ = begin(home)
    (store.directory.parent / "issue-42-2" / "hook.json").write_bytes(b"")
    file = home.root / "index.json"
    file.unlink() if damage is None else file.write_bytes(damage)
    assert begin(home)[1].task_index == 3
    assert json.loads(file.read_text()) == {"next": 4}


def test_index_of_a_failed_beginning_is_not_used_again(home):
    """A task that could not be begun leaves a gap, and its name free."""
    with pytest.raises(ZeroDivisionError):
        begin_record(home, "demo-123456", "issue-42", lambda *_: 1 / 0)
    (home.root / "workspaces/demo-123456/tasks/issue-42").mkdir(parents=True)
    assert (begin(home)[1].task_id, home.store("demo-123456", "issue-42").read().task_index) == ("issue-42", 1)


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden", "A", "a\n"])
def test_names_stay_inside(home, name):
    """What could lead out of the home is no name."""
    for call in (lambda: home.store(name, "x"), lambda: home.store("x", name), lambda: home.tasks(name)):
        with pytest.raises(BadInput):
            call()


def test_home_that_cannot_be_made(tmp_path):
    """A file in the way is a clear error."""
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordUnavailable):
        begin(Home(tmp_path / "file" / "atlas"))


BEGINNER = """
import sys
from pathlib import Path
from support.stored_records import begun_record
from agent_sync.record.disk.beginning import begin_record
from agent_sync.record.disk.ending import made_up_for
from agent_sync.record.disk.recorder import Home
for _ in range(5):
    begin_record(Home(Path(sys.argv[1])), "demo-123456", "x", lambda task_id, index: begun_record(task_id=task_id, task_index=index))
"""


def test_beginners_never_share_a_task(home):
    """Processes that begin tasks at the same time get different names and indexes."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", BEGINNER, str(home.root)]
    running = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    records = [home.store("demo-123456", name).read() for name in home.tasks("demo-123456")]
    assert sorted(record.task_index for record in records) == list(range(15))


@pytest.fixture
def place(repo):
    return worktree(str(repo))


def begin_here(home, place, wanted="issue-42"):
    return begin(home, workspace_of(place), wanted, worktree=place.root)


def abandon(store):
    return store.update(lambda record: with_move(record, RecordMove.ABANDON, LATER), LATER)


def test_pointer_names_the_active_record(home, place):
    """What the worktree points to is its record; forgotten, another that has not ended is found."""
    assert active_record(place, home) is None
    store, record = begin_here(home, place)
    begin_here(home, place, "newer")[0].update(lambda one: one.model_copy(update={"branch": "x"}), LATER)
    point(place, record)
    assert active_record(place, home) == (store, record)
    unpoint(place)
    unpoint(place)
    assert active_record(place, home)[1].task_id == "newer"


LOST = {
    "nothing": None,
    "empty": b"",
    "nonsense": b"\xff\0",
    "gone task": b"demo-123456/gone\n",
    "a way out": b"../../x\n",
    "no task": b"demo\n",
}


@pytest.mark.parametrize("content", LOST.values(), ids=LOST)
def test_lost_pointer_is_searched_for(home, place, content):
    """A pointer that is lost or nonsense costs a search, which finds this worktree's record alone."""
    begin(home, workspace_of(place), "theirs", worktree="/somewhere/else")
    ended, _ = begin_here(home, place, "ended")
    abandon(ended)
    active = begin_here(home, place, "ours")
    if content is not None:
        point(place, active[1])
        with open(f"{place.state_dir}/record", "wb") as file:  # noqa: PTH123  # a place speaks in texts
            file.write(content)
    assert active_record(place, home) == active


def test_ended_record_is_never_active(home, place):
    """A record that has ended is not active, pointed to or not, even where task.json was lost."""
    store, record = begin_here(home, place)
    point(place, record)
    abandon(store)
    assert active_record(place, home) is None
    (store.directory / "task.json").unlink()
    assert active_record(place, home) is None


def test_killed_ending_is_finished(home, place):
    """What a killed writer left of the record's end is made up for: files, temporaries and the pointer."""
    store, record = begin_here(home, place)
    point(place, record)
    assert made_up_for(place, home, OpenRecord(store, record)) == (store, record)
    assert is_pointed(place), "a record that goes on is left alone"
    stale = (store.directory / "task.json").read_bytes()
    abandon(store)
    (store.directory / "task.json").write_bytes(stale)
    # No process has this number.
    (store.directory / "task.json.999999999.tmp").write_bytes(b"{")
    assert made_up_for(place, home, None) is None
    assert json.loads((store.directory / "task.json").read_bytes())["outcome"] == "abandoned"
    assert not is_pointed(place)
    assert list(store.directory.glob("*.tmp")) == []


def test_broken_record_is_not_no_record(home, place):
    """A record that cannot be read is an error, pointed to or found; another worktree's is none of ours."""
    begin(home, workspace_of(place), "theirs", worktree="/somewhere/else")
    broken = home.store(workspace_of(place), "theirs").directory / "hook.json"
    broken.write_bytes(b"")
    assert active_record(place, home) is None
    store, record = begin_here(home, place)
    (store.directory / "hook.json").write_bytes(b"")
    for act in (lambda: point(place, record), lambda: unpoint(place)):
        act()
        with pytest.raises(BadRecord):
            active_record(place, home)


def test_copied_clone_has_no_record(home, place, tmp_path):
    """A copy of a worktree does not work on the original's record; a worktree that was moved keeps its own."""
    _, record = begin_here(home, place)
    point(place, record)
    subprocess.run(["cp", "-a", place.root, tmp_path / "copy"], check=True)
    copy = worktree(str(tmp_path / "copy"))
    assert active_record(copy, home) is None
    subprocess.run(["mv", place.root, tmp_path / "moved"], check=True)
    assert active_record(worktree(str(tmp_path / "moved")), home)[1] == record
    assert record.created_at == NOW
