"""Gates: what a run adds to its slowest gate, what changed among many files, and how planning grows."""

import gc
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

from agent_sync.gates.config.project import load_project
from agent_sync.gates.plan.plan import Scope, plan
from benchmarks.figures import Row, Unit, multiple, multiples_row
from benchmarks.recorded import RIVAL
from benchmarks.turns import AGENT_SYNC, BARE, Effort, in_turns, plain_environment, run, seconds

OVERHEAD = "Gates: over the slowest of so many, each of a second"
STOP = "Gates: a stop that runs one"
DETECT = "Gates: what changed, among so many files"
PLANNING = "Gates: planning for so many changed files"
SLEEP_S, AT_MOST = 1, 14.0
GATES, FILES, ENTRIES = (1, 4, 16), (20_000, 40_000), 100
# Twice the files may take a little more than twice as long.
LINEAR = 2.5
PER_FOLDER = 500


def gate_rows(scratch: Path, effort: Effort) -> list[Row]:
    """Measure everything about gates."""
    environment = plain_environment(scratch)
    sizes = effort.sizes(*FILES)
    tracked, untracked = zip(*(_detect(scratch / str(n), environment, n, effort) for n in sizes), strict=True)
    return [
        _overhead(scratch, environment, effort),
        _stop(scratch / "stop", environment, effort),
        _detect_row("detect, tracked", sizes, tracked),
        _detect_row("detect, untracked", sizes, untracked),
        planning_row(scratch / "planning", environment),
    ]


def project(root: Path, environment: dict[str, str], entries: str, checks: dict[str, str]) -> None:
    """Make a repository with gates and a first commit."""
    config = f"base_branch: main\nentry_points:\n{entries}"
    files = {"config.yml": config, **{f"checks/{name}.yml": text for name, text in checks.items()}}
    (root / ".gauntlet" / "checks").mkdir(parents=True)
    for name, text in files.items():
        (root / ".gauntlet" / name).write_text(text, encoding="utf-8")
    (root / ".gitignore").write_text("gauntlet_logs\n", encoding="utf-8")
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "x"]):
        run("git", *arguments, cwd=root, environment=environment)


def _changing(root: Path, environment: dict[str, str], *arguments: str) -> Callable[[], float]:
    """Return what changes a file and times a command, so that there is something to do every time."""
    numbers = count()

    def changed_and_timed() -> float:
        (root / "changed.txt").write_text(str(next(numbers)), encoding="utf-8")
        return seconds([AGENT_SYNC, *arguments], root, environment)

    return changed_and_timed


def _overhead(scratch: Path, environment: dict[str, str], effort: Effort) -> Row:
    cases: dict[str, Callable[[], float]] = {"bare": partial(seconds, BARE, scratch, environment)}
    for gates in GATES:
        names, root = [f"sleep{number}" for number in range(gates)], scratch / f"gates{gates}"
        entry = f"  - path: .\n    checks: [{', '.join(names)}]\n"
        project(root, environment, entry, dict.fromkeys(names, f"command: sleep {SLEEP_S}\nparallel: true\n"))
        cases[f"{gates} gates" if gates > 1 else "1 gate"] = _changing(root, environment, "gate", "run")
    times = in_turns(cases, effort.gates)
    found = {
        name: multiple([taken - SLEEP_S for taken in times[name]], times["bare"]) for name in times if name != "bare"
    }
    rival = RIVAL.series("gates", "overhead", len(GATES))
    # Sixteen are more than run at once.
    at_most = (AT_MOST, AT_MOST, None)
    return multiples_row(OVERHEAD, "gate run", Unit.BARE, found, rival=rival, at_most=at_most)


def _stop(root: Path, environment: dict[str, str], effort: Effort) -> Row:
    project(root, environment, "  - path: .\n    checks: [ok]\n", {"ok": "command: 'true'\n"})
    bare = partial(seconds, BARE, root, environment)
    # Otherwise the second stop comes too early for another run.
    often = environment | {"GAUNTLET_STOP_HOOK_INTERVAL_MINUTES": "0"}
    times = in_turns({"bare": bare, "stop": _changing(root, often, "gauntlet", "stop-hook")}, effort.gates)
    found = {"": multiple(times["stop"], times["bare"])}
    rival = (RIVAL.one("gates", "stop that runs true"),)
    return multiples_row(STOP, "stop that runs true", Unit.BARE, found, rival=rival, at_most=(AT_MOST,))


def _detect(
    root: Path, environment: dict[str, str], files: int, effort: Effort
) -> list[tuple[list[float], list[float]]]:
    """Time it with so many files committed, and with as many more that git does not know."""
    _fill(root / "tracked", files)
    project(root, environment, "  - path: .\n    checks: [ok]\n", {"ok": "command: 'true'\n"})
    cases: dict[str, Callable[[], float]] = {
        "bare": partial(seconds, BARE, root, environment),
        "detect": _changing(root, environment, "gate", "detect"),
    }
    found = []
    for folder in ("", "untracked"):
        if folder:
            _fill(root / folder, files)
        times = in_turns(cases, effort.gates)
        found.append((times["detect"], times["bare"]))
    return found


def _fill(directory: Path, files: int) -> None:
    for number in range(files):
        folder = directory / f"part{number // PER_FOLDER}"
        if not number % PER_FOLDER:
            folder.mkdir(parents=True)
        (folder / f"f{number}.py").write_text(f"x = {number}\n", encoding="utf-8")


def _detect_row(name: str, sizes: tuple[int, ...], taken: tuple[tuple[list[float], list[float]], ...]) -> Row:
    found = {f"{files:,}": multiple(*one) for files, one in zip(sizes, taken, strict=True)}
    rival = RIVAL.series("gates", name, len(sizes))
    return multiples_row(DETECT, name, Unit.BARE, found, rival=rival, at_most=rival)


def planning_row(root: Path, environment: dict[str, str]) -> Row:
    """Time planning for twice as many files; the garbage collector, which runs when it likes, is off."""
    entries = "".join(f"  - path: part{number}\n    checks: [ok]\n" for number in range(ENTRIES))
    project(root, environment, entries, {"ok": "command: 'true'\n"})
    loaded = load_project(root).project
    named = {files: [f"part{number % ENTRIES}/f{number}.py" for number in range(files)] for files in FILES}

    def timed(files: int) -> float:
        began = time.perf_counter()
        plan(loaded, named[files], Scope(), lambda _: True)
        return time.perf_counter() - began

    gc.collect()
    gc.disable()
    times = in_turns({str(files): partial(timed, files) for files in FILES}, rounds=9)
    gc.enable()
    few, many = times.values()
    found = {f"{FILES[0]:,}": multiple(few, few), f"{FILES[1]:,}": multiple(many, few)}
    return multiples_row(PLANNING, "plan", Unit.SMALLEST, found, at_most=(None, LINEAR))
