"""Prints what the executor adds to the slowest gate, and how planning grows with the number of changed files."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from agent_sync.context import Context, context_at
from agent_sync.gates.config.project import load_project
from agent_sync.gates.plan.plan import Scope, plan
from agent_sync.gates.run.execute import execute_run
from agent_sync.worktree import worktree

GATES, SECONDS = 4, 5
ENTRIES, FILES = 100, 20_000


def git(root: Path, *arguments: str) -> None:
    """Run git."""
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def project(root: Path, config: str, checks: dict[str, str]) -> Context:
    """Make a repository with gates and one changed file."""
    (root / ".gauntlet" / "checks").mkdir(parents=True)
    (root / ".gauntlet" / "config.yml").write_text(config, encoding="utf-8")
    for name, text in checks.items():
        (root / ".gauntlet" / "checks" / f"{name}.yml").write_text(text, encoding="utf-8")
    git(root, "init", "-q", "-b", "main")
    git(root, "-c", "user.name=b", "-c", "user.email=b@example.invalid", "commit", "-q", "--allow-empty", "-m", "x")
    (root / "changed.txt").write_text("x", encoding="utf-8")
    place = worktree(str(root))
    assert place  # noqa: S101  # made two lines above
    return context_at(place, dict(os.environ))


def overhead(root: Path) -> float:
    """Return how long sleeping gates take together, over how long one sleeps."""
    names = [f"sleep{number}" for number in range(GATES)]
    config = f"base_branch: main\nentry_points:\n  - path: .\n    checks: [{', '.join(names)}]\n"
    context = project(root, config, dict.fromkeys(names, f"command: sleep {SECONDS}\nparallel: true\n"))
    began = time.perf_counter()
    result = execute_run(context, root)
    assert len(result.results) == GATES, result  # noqa: S101  # a benchmark of nothing would look good
    return (time.perf_counter() - began) / SECONDS


def growth(root: Path) -> float:
    """Return how much longer planning takes for twice as many files; two is linear."""
    entries = "".join(f"  - path: part{number}\n    checks: [ok]\n" for number in range(ENTRIES))
    project(root, f"base_branch: main\nentry_points:\n{entries}", {"ok": "command: 'true'\n"})
    loaded = load_project(root).project
    times = []
    for count in (FILES, 2 * FILES):
        files = [f"part{number % ENTRIES}/f{number}.py" for number in range(count)]
        best = min(_timed(loaded, files) for _ in range(5))
        times.append(best)
    return times[1] / times[0]


def _timed(loaded: object, files: list[str]) -> float:
    began = time.perf_counter()
    plan(loaded, files, Scope(), lambda _: True)  # type: ignore[arg-type]
    return time.perf_counter() - began


def main() -> None:
    """Print both ratios."""
    os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    os.environ.pop("CI", None)
    with tempfile.TemporaryDirectory(prefix="agent-sync-bench-") as name:
        os.environ["HOME"] = name
        for part in ("a", "b"):
            (Path(name) / part).mkdir()
        print(f"{GATES} gates of {SECONDS} s, over the slowest    {overhead(Path(name) / 'a'):5.2f}")
        print(f"planning {2 * FILES} files, over {FILES}      {growth(Path(name) / 'b'):5.2f}")


main()
