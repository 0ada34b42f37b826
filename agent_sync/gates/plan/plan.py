"""Decides which gates run: entry points against changed files, and the jobs that follow."""

from collections.abc import Callable, Iterable
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Literal

from agent_sync.gates.config.globs import compiled, is_glob
from agent_sync.gates.config.model import EntryPoint, GateCheck, GateProject, Review
from agent_sync.lazy_dataclasses import dataclass

ENTRY_DIRECTORY = "entrypoint"
IsDirectory = Callable[[str], bool]


@dataclass(frozen=True)
class Job:
    """One gate on one part of the project."""

    id: str
    gate: GateCheck | Review
    entry: str
    directory: str
    files: tuple[str, ...] = field(default=(), repr=False)


def gate_name(job_id: str) -> str:
    """Return a job's id as people say it: `lint (check)`, and where the gate runs unless that is the whole project."""
    kind, _, rest = job_id.partition(":")
    entry, _, name = rest.rpartition(":")
    if not entry:
        return job_id
    return f"{name} ({kind})" if entry == "." else f"{name} ({kind} in {entry})"


@dataclass(frozen=True)
class Skipped:
    """A gate that does not run, and why."""

    id: str
    reason: str


@dataclass(frozen=True)
class GatePlan:
    """What a run does and leaves out."""

    jobs: tuple[Job, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True)
class Scope:
    """Which gates are asked for, and where the run takes place."""

    kinds: frozenset[Literal["check", "review"]] = frozenset({"check", "review"})
    gate: str = ""
    is_ci: bool = False


@dataclass(frozen=True)
class Active:
    """An entry point that has changed files: its path, where its checks run, and the files."""

    point: EntryPoint
    path: str
    directory: str
    files: tuple[str, ...]
    is_there: bool = True


def plan(project: GateProject, files: Iterable[str], scope: Scope, is_directory: IsDirectory) -> GatePlan:
    """Return the jobs in the order of the entry points, each check once per directory."""
    jobs: dict[str, Job] = {}
    skipped: dict[str, Skipped] = {}
    for active in active_entries(project, tuple(files), is_directory):
        for job in _jobs(project, active, scope):
            reason = _why_not(job, active, scope)
            if reason:
                skipped.setdefault(job.id, Skipped(job.id, reason))
            else:
                jobs.setdefault(job.id, job)
    return GatePlan(tuple(jobs.values()), tuple(one for one in skipped.values() if one.id not in jobs))


def active_entries(project: GateProject, files: tuple[str, ...], is_directory: IsDirectory) -> list[Active]:
    """Return the entry points that have changed files; wildcards become one per directory."""
    below, changed = _by_directory(files), frozenset(files)
    found: list[Active] = []
    for point in project.entry_points:
        found += _active_for(point, files, below, changed, is_directory)
    return found


def _active_for(
    point: EntryPoint,
    files: tuple[str, ...],
    below: dict[str, list[str]],
    changed: frozenset[str],
    is_directory: IsDirectory,
) -> list[Active]:
    path = point.path
    parent, _, last = path.rpartition("/")
    if path == ".":
        return _active(point, path, ".", _without_excluded(files, point))
    if last.endswith("*") and "**" not in path and not is_glob(parent):
        return _active_in_glob(
            point, parent, last, _without_excluded(below.get(parent, ()) if parent else files, point), is_directory
        )
    if is_glob(path):
        pattern = compiled(path)
        return _active(point, path, ".", [file for file in _without_excluded(files, point) if pattern.fullmatch(file)])
    itself = (path,) if path in changed else ()
    matching = _without_excluded((*itself, *below.get(path, ())), point)
    directory = path if is_directory(path) or not matching or matching != [path] else parent or "."
    return _active(point, path, directory, matching, is_there=is_directory(directory))


def _active(point: EntryPoint, path: str, directory: str, files: list[str], *, is_there: bool = True) -> list[Active]:
    return [Active(point, path, directory, tuple(files), is_there)] if files else []


def _active_in_glob(
    point: EntryPoint, parent: str, last: str, files: list[str], is_directory: IsDirectory
) -> list[Active]:
    """Return one entry per directory right below the parent; a plain file there is none."""
    start = len(parent) + 1 if parent else 0
    groups: dict[str, list[str]] = {}
    for file in files:
        name, slash, _ = file[start:].partition("/")
        if slash and fnmatchcase(name, last):
            groups.setdefault(f"{file[:start]}{name}", []).append(file)
    return [Active(point, path, path, tuple(group), is_directory(path)) for path, group in sorted(groups.items())]


def _by_directory(files: tuple[str, ...]) -> dict[str, list[str]]:
    """Map every directory to the changed files it holds."""
    below: dict[str, list[str]] = {}
    for file in files:
        at = file.rfind("/")
        while at > 0:
            below.setdefault(file[:at], []).append(file)
            at = file.rfind("/", 0, at)
    return below


def _without_excluded(files: Iterable[str], point: EntryPoint) -> list[str]:
    globs = [compiled(pattern) for pattern in point.exclude if is_glob(pattern)]
    plain = [path.removeprefix("./").rstrip("/") for path in point.exclude if not is_glob(path)]
    prefixes = tuple(f"{path}/" for path in plain)
    return [
        file
        for file in files
        if not (file.startswith(prefixes) or file in plain or any(glob.fullmatch(file) for glob in globs))
    ]


def _jobs(project: GateProject, active: Active, scope: Scope) -> Iterable[Job]:
    if "check" in scope.kinds:
        for name in active.point.checks:
            check = project.checks[name]
            given = check.working_directory
            directory = active.directory if given in {"", ENTRY_DIRECTORY} else given
            label = active.path if given in {"", ENTRY_DIRECTORY} else given
            yield Job(f"check:{label}:{name}", check, active.path, directory, active.files)
    if "review" in scope.kinds:
        for name in active.point.reviews:
            yield Job(f"review:{active.path}:{name}", project.reviews[name], active.path, ".", active.files)


def _why_not(job: Job, active: Active, scope: Scope) -> str:
    """Return why a job does not run; nothing if it does."""
    gate = job.gate
    if scope.gate and gate.name != scope.gate:
        return "not asked for"
    if scope.is_ci and not gate.run_in_ci:
        return "run_in_ci: false"
    if not scope.is_ci and not gate.run_locally:
        return "run_locally: false"
    if isinstance(gate, Review):
        return "" if gate.enabled else "enabled: false"
    if not active.is_there and job.directory == active.directory:
        return f"{active.directory} is gone"
    return ""
