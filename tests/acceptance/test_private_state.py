"""What agent-sync keeps for itself is the user's alone, whatever the umask; what belongs to the repository is not."""

import os
import stat
from pathlib import Path

import pytest
from support.clients import Client, Nursery
from support.command import COVERAGE, EVENTS, fixture, run
from support.stage import QuickStage, Theatre

from agent_sync.demo.stage import stage

# Git itself makes what lies there, in a directory that is ours alone.
MADE_BY_GIT = "snapshots"


@pytest.fixture
def open_umask():
    """Let everything that processes make be open to everyone, unless they take care."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def scenery(open_umask):  # noqa: ARG001
    """Set up a gated clone whose commands come from a nursery with the open umask."""
    nursery = Nursery()
    with stage(with_gate=True) as found:
        client = Client(nursery, found.root)
        yield found if COVERAGE else QuickStage(found.url, found.root, found.environment, client)
        client.close()
    nursery.close()


def mode(path: Path) -> int:
    """Return who may do what with a file."""
    return stat.S_IMODE(path.lstat().st_mode)


def open_to_others(*roots: Path) -> dict[str, str]:
    """Return every file and directory below, and the roots themselves, that others may read, write or enter."""
    found = [path for root in roots for path in (root, *root.rglob("*")) if MADE_BY_GIT not in path.parts]
    return {str(path): oct(mode(path)) for path in found if mode(path) & 0o077}


def play(theatre: Theatre) -> None:
    """Bring a task from claim to close, with every hook, a gate and a validation on the way."""
    scenery = theatre.stage
    assert scenery.command("claim", "42").status == 0
    for hook in ("session-start", "on-prompt", "on-tool"):
        scenery.command(hook, stdin=fixture(EVENTS[hook], scenery.root))
    scenery.commit("fix.txt", "fix\n", "Fix")
    assert scenery.command("validate", "--", "true").status == 0
    assert scenery.command("handoff", "--summary", "Fix the race").status == 0
    scenery.hook("on-stop", event="Stop")
    scenery.act("add_check", pull=45, name="test", status="completed", conclusion="failure")
    scenery.hook("on-idle", event="Notification")
    scenery.act("merge_pull", pull=45, method="merge")
    scenery.hook("on-idle", event="Notification")
    scenery.hook("on-stop", event="Stop")


def test_state_is_private_under_an_open_umask(scenery):
    """With umask 000, no file of ours in the git directory or in ~/.atlas is open to others, from claim to close."""
    git_dir, atlas = scenery.root / ".git" / "agentsync", Path(scenery.environment["HOME"]) / ".atlas"
    play(Theatre(scenery))
    assert open_to_others(git_dir, atlas) == {}
    # What git makes for a command shows that the umask is open there.
    assert mode(scenery.root / ".git" / "refs" / "heads" / "claude") == 0o777
    assert mode(scenery.root / "gauntlet_logs") == 0o755
    # What belongs to the repository is as open as the umask wants it.
    assert mode(scenery.root / ".agent-claim.json") == 0o644
    scenery.command("done")
    scenery.hook("on-stop", event="Stop")
    assert scenery.claim() is None
    assert open_to_others(git_dir, atlas) == {}
    assert {path.name for path in atlas.rglob("*")} >= {"hook.json", "task.log", "master.key", "account.pub"}
    assert len(list((git_dir / "passes").glob("*.json"))) > 0


def test_open_directories_are_closed_when_next_used(repo):
    """Directories that an older version left open to others are closed by the next hook; strangers' are left."""
    state = repo / ".git" / "agentsync"
    for directory in (state, state / "passes"):
        directory.mkdir()
        directory.chmod(0o777)
    (repo / ".agent-claim.json").write_text("broken")
    run("on-stop", cwd=repo, stdin="{}")
    assert mode(state) == 0o700
    assert mode(repo / ".git") & 0o077
