"""A world that outlives its server: kept in the state directory, caught up with git when it is read back."""

import os
import pickle
import threading
from pathlib import Path

from agent_sync.emulator import scenarios
from agent_sync.emulator.operations.refs import after_ref_changes
from agent_sync.emulator.world.world import LAYOUT, World

README = "The state of a local GitHub: bare repositories, and the rest of the world in world.pickle.\n"


class ForeignWorldError(Exception):
    """The kept world has another layout than this version's."""


def open_world(home: Path, scenario: str) -> World:
    """Return the world kept in a directory, or a new one of that scenario."""
    kept = home / "world.pickle"
    if not kept.exists():
        home.mkdir(parents=True, exist_ok=True)
        (home / "README").write_text(README)
        return scenarios.build(scenario, home / "repositories")
    world = pickle.loads(kept.read_bytes())  # noqa: S301 - written by this module, in the caller's own directory
    if not isinstance(world, World):
        raise TypeError(f"{kept} does not hold a world")
    if getattr(world, "layout", None) != LAYOUT:
        raise ForeignWorldError(f"The world in {home} was kept by another version; give an empty directory.")
    for repository in world.repositories.values():
        after_ref_changes(world, repository, by=repository.owner)
    return world


class Keeper(threading.Thread):
    """Writes the world down shortly after each change, and when it is told to stop."""

    def __init__(self, world: World, home: Path, pause_s: float = 0.5) -> None:
        super().__init__(name="keeper", daemon=True)
        self._world = world
        self._file = home / "world.pickle"
        self._pause_s = pause_s
        self._changed = threading.Event()
        self._stopping = threading.Event()

    def note_change(self) -> None:
        """Remember that there is something to write."""
        self._changed.set()

    def run(self) -> None:
        """Write until stopped."""
        self._write()
        while not self._stopping.is_set():
            self._changed.wait()
            self._changed.clear()
            self._write()
            self._stopping.wait(self._pause_s)

    def stop(self) -> None:
        """Write one last time and end."""
        self._stopping.set()
        self._changed.set()
        self.join()
        self._write()

    def _write(self) -> None:
        with self._world.lock:
            content = pickle.dumps(self._world)
        fresh = self._file.with_suffix(".new")
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._file)
