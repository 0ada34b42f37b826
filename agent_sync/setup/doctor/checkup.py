"""Runs every check in order, from this machine outwards."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from agent_sync import settings
from agent_sync.context import Context, context_at
from agent_sync.errors import BadConfig
from agent_sync.setup.client.levels import levels
from agent_sync.setup.client.plugin import enabled_plugin
from agent_sync.setup.doctor import machine, registration, worktree
from agent_sync.setup.doctor.plugin import check_plugin
from agent_sync.setup.doctor.result import Result, skip
from agent_sync.system.git import Git
from agent_sync.system.git_memory import GitMemory
from agent_sync.system.processes import Processes
from agent_sync.worktree import Place


def check_all(place: Place, environment: Mapping[str, str], *, live: bool = False) -> Iterator[Result]:
    """Return every result as soon as it is known."""
    processes = Processes()
    git = Git(place.root, processes, environment, memory=GitMemory(leaves_notes=False))
    yield machine.check_command(environment, processes, directory=place.root)
    yield machine.check_git(git)
    yield machine.check_identity(git)
    yield machine.check_gh(environment)
    yield worktree.check_worktrees(git)
    yield worktree.check_ignored(git)
    yield worktree.check_claim(place, git)
    yield from _hooks(place, environment, processes)
    try:
        loaded = settings.load(place, environment)
        # A check-up leaves no trace.
        context = replace(context_at(place, environment), git_memory=GitMemory(leaves_notes=False))
    except BadConfig as error:
        yield worktree.check_settings(place, error)
        yield skip("github", "not asked, because the settings cannot be read")
    else:
        yield worktree.check_settings(place, loaded)
        yield worktree.check_trust(place, loaded)
        yield from _record(context)
        yield from _github(context)
        if live:
            yield from _live(context)


def _hooks(place: Place, environment: Mapping[str, str], processes: Processes) -> Iterator[Result]:
    root, main = Path(place.root), Path(place.common_dir).parent
    found = levels(root, main, environment)
    plugin = enabled_plugin(found, root, main, environment)
    yield registration.check_files(found)
    yield check_plugin(found, plugin)
    yield registration.check_registered(found, plugin)
    yield registration.check_once(found)
    yield registration.check_timeouts(found)
    yield machine.check_effect(environment, processes, directory=place.root)


def _record(context: Context) -> Iterator[Result]:
    """Load what reads records only now."""
    from agent_sync.setup.doctor.record import check_record

    yield from check_record(context)


def _github(context: Context) -> Iterator[Result]:
    """Load the client libraries only now."""
    from agent_sync.setup.doctor.github import check_github
    from agent_sync.setup.doctor.leases import check_leases

    yield from check_github(context)
    yield from check_leases(context)


def _live(context: Context) -> Iterator[Result]:
    """Load what tries things only where it is asked for."""
    from agent_sync.setup.doctor.live import check_live

    yield from check_live(context)
