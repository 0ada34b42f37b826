"""Prints how many times a bare interpreter a hook with nothing to do costs, measured on the built wheel."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path

ROUNDS = int(os.environ.get("ROUNDS", "60"))
HERE = Path(__file__).resolve().parent.parent
DEVELOPMENT = Path(sys.executable).with_name("agent-sync")
CLAIM = """{"schema_version": 1, "item_id": "PVTI_1", "issue_number": 42, "branch": "claude/x-42",
"agent_id": "octo-1", "phase": "coding", "summary": "", "status": "In Progress", "pr_number": null,
"last_check_poll": null, "last_synced_status": "In Progress"}"""

GATES = "base_branch: main\nentry_points:\n  - path: .\n    checks: [ok]\n"


def quietly(*command: str | Path, cwd: Path, stdin: str = "") -> None:
    """Run a command that must succeed."""
    subprocess.run([str(part) for part in command], cwd=cwd, input=stdin.encode(), check=True, capture_output=True)


def installed(directory: Path) -> Path:
    """Build the wheel, install it alone into a fresh environment, and return that environment's programs."""
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    quietly(*wheel, "--wheel-dir", directory, HERE, cwd=directory)
    venv.create(directory / "venv", with_pip=True)
    programs = directory / "venv" / "bin"
    built = next(directory.glob("*.whl"))
    quietly(programs / "python", "-m", "pip", "install", "--quiet", "--no-deps", built, cwd=directory)
    return programs


def repository(directory: Path, claim: str) -> Path:
    """Make a repository in which a full run has just found nothing to do."""
    directory.mkdir()
    quietly("git", "init", "-q", cwd=directory)
    if claim:
        (directory / ".agent-claim.json").write_text(claim, encoding="utf-8")
    time.sleep(0.2)
    quietly(DEVELOPMENT, "on-stop", cwd=directory, stdin="{}")
    return directory


def gated(directory: Path) -> Path:
    """Make a repository whose gates have just passed, so that the next stop needs no run."""
    (directory / ".gauntlet" / "checks").mkdir(parents=True)
    (directory / ".gauntlet" / "config.yml").write_text(GATES, encoding="utf-8")
    (directory / ".gauntlet" / "checks" / "ok.yml").write_text("command: 'true'\n", encoding="utf-8")
    quietly("git", "init", "-q", "-b", "main", cwd=directory)
    for _ in range(2):
        quietly(DEVELOPMENT, "gauntlet", "stop-hook", cwd=directory, stdin="{}")
    return directory


def seconds(command: list[str], cwd: Path) -> float:
    """Time one run of a command, from outside."""
    began = time.perf_counter()
    subprocess.run(command, cwd=cwd, input=b"{}", capture_output=True, check=True)
    return time.perf_counter() - began


def ratios(cases: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Run the cases in turns, so that a busy machine is busy for all, and return medians over the first's."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, case in cases.items():
            times[name].append(case())
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    base = next(iter(medians.values()))
    return {name: median / base for name, median in medians.items()}


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="agent-sync-bench-") as name:
        directory = Path(name)
        os.environ |= {"HOME": name, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        os.environ.pop("CLAUDE_PROJECT_DIR", None)
        programs = installed(directory)
        empty = repository(directory / "empty", "")
        coding = repository(directory / "coding", CLAIM)
        gates = gated(directory / "gated")
        command, python = str(programs / "agent-sync"), str(programs / "python")
        cases = {
            "python -c pass": lambda: seconds([python, "-c", "pass"], empty),
            "on-stop, no claim file": lambda: seconds([command, "on-stop"], empty),
            "on-stop, quiet coding claim": lambda: seconds([command, "on-stop"], coding),
            "gauntlet stop-hook, no gates": lambda: seconds([command, "gauntlet", "stop-hook"], empty),
            "gauntlet stop-hook, interval": lambda: seconds([command, "gauntlet", "stop-hook"], gates),
            "python -c 'import json'": lambda: seconds([python, "-c", "import json"], empty),
            "python -m agent_sync, no claim file": lambda: seconds([python, "-m", "agent_sync", "on-stop"], empty),
        }
        print(f"{'':38}ratio   ({ROUNDS} runs each, in turns, medians)")
        for case, ratio in ratios(cases).items():
            print(f"{case:38}{ratio:5.2f}")


main()
